"""Check the type of an audit, and the values that every audit of the library refuses."""

import math
from string import Formatter
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

from privarms.audits.audit import Audit, Inputs, scaled
from privarms.audits.events import any_choice, changed_reward, neighbouring_users, released_number
from privarms.errors import PrivarmsError
from privarms.mechanisms import laplace
from privarms.policies import Policy
from privarms.policies.bandit import private_ucb
from privarms.policies.locally_private import ldp_mab
from privarms.protocols import audit as protocol
from privarms.registry import modules
from privarms.registry.modules import EnvironmentModule


@njit
def below(limit, rng):
    return rng.random() < limit


PAIR = [Inputs(0, 1.0), Inputs(1, 1.0)]


def audit(**more):
    return Audit(inputs=released_number.configure, event=below, **more)


def with_probabilities(*chances, **more):
    return audit(exact=lambda params, inputs: chances[inputs.neighbour], **more)


def test_the_log_ratio_has_the_likelier_neighbour_on_top():
    assert with_probabilities(0.1, 0.4).loss(None, PAIR) == pytest.approx(math.log(4))
    assert with_probabilities(0.1, 0.4, likelier=0).loss(None, PAIR) == pytest.approx(-math.log(4))
    assert with_probabilities(0.1, 0.4, likelier=lambda inputs: 0).loss(None, PAIR) == pytest.approx(-math.log(4))
    assert with_probabilities(0.0, 0.4).loss(None, PAIR) == math.inf
    assert with_probabilities(0.4, 0.0).loss(None, PAIR) == -math.inf
    assert math.isnan(with_probabilities(0.0, 0.0).loss(None, PAIR))
    assert math.isnan(audit().loss(None, PAIR))
    assert with_probabilities(0.1, 0.4, exact_loss=lambda params, inputs: 7.0).loss(None, PAIR) == 7
    assert audit().claimed(0.3) == 0.3


def test_the_scope_of_several_settings_is_one_sentence():
    assert audit().scope([{}]) == ""
    named = audit(changed="Only one reward was changed, with {K} arms, over {rounds} rounds.")
    settings = [{"K": 2, "rounds": rounds, "epsilon": 1.0} for rounds in (64, 1024, 64)]
    assert named.scope(settings) == (
        "Only one reward was changed, with 2 arms, over 64 and 1,024 rounds. Other changes were not tried."
    )


def test_a_multiple_of_the_noise_is_in_counts_and_probabilities():
    scaled_limit = audit(
        arguments=lambda policy, params, inputs, *others: (params.scale,),
        exact=lambda params, inputs: params.scale,
        exact_loss=lambda params, inputs: params.scale,
        with_noise=scaled("scale"),
    )
    draws, half = np.random.default_rng(3).random(50), Inputs(0, 0.5)
    params = laplace.Mechanism(0.6)
    assert scaled_limit.count(None, params, half, None, 50, np.random.default_rng(3)) == (draws < 0.3).sum()
    assert scaled_limit.probability(params, half) == 0.3
    assert scaled_limit.loss(params, [half, half]) == 0.3


def test_a_subject_in_plain_python_is_counted_too():
    rounds = Policy(lambda params: 0, lambda *others: 1, lambda *others: 0)
    inputs = any_choice.configure(2, 0, 5, 1.0)
    assert any_choice.AUDIT.count(rounds, None, inputs, 5, 7, None) in (0, 7)


# Arguments of each audit in addition to the neighbour.
PARAMETERS = {
    **{"K": 2, "dimensions": 3, "horizon": 50_000_000, "epsilon": 0.5, "alpha": 0.9, "beta": 0.5, "rounds": 64},
    **{"promised": 1.0, "release": "lengths", "differ": "arm", "event": "quadrant"},
}
SPECIAL = {
    "changed_reward": {"event": "last"},
    "first_reward": {"K": 6},
    "neighbouring_streams": {"K": 20},
    "rewards_of_contexts": {"dimensions": 1},
}


@pytest.mark.parametrize("name", modules.audits())
def test_every_audit_takes_two_neighbours_and_knows_its_name(name):
    module = EnvironmentModule(name).module
    takes = EnvironmentModule(name).arguments
    arguments = {k: v for k, v in (PARAMETERS | SPECIAL.get(name, {})).items() if k in takes}
    assert [module.configure(**arguments, neighbour=n).neighbour for n in (0, 1)] == [0, 1]
    # A study with another value must be refused.
    assert takes["neighbour"].choices == (0, 1)
    assert module.AUDIT.inputs is module.configure
    assert module.AUDIT.name == name
    # Readers of a verdict learn what was changed; the sentence uses parameters that every study gives.
    given = {"horizon", *(k for k, argument in takes.items() if argument.required)}
    assert {field for _, field, _, _ in Formatter().parse(module.AUDIT.changed) if field} <= given
    assert module.AUDIT.changed.endswith(".")
    if "noise" in takes and "epsilon" not in takes:
        assert module.configure(**arguments, neighbour=0, noise=0.5).noise == 0.5


# audit, an impossible value, the message
@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("first_reward", {"K": 4}, "K: expected at least 5"),
        ("neighbouring_streams", {"K": 10}, "K: expected more than 10"),
        ("private_gradients", {"dimensions": 2}, "dimensions: expected at least 3"),
    ],
)
def test_impossible_inputs_are_refused_by_name(name, wrong, message):
    takes = EnvironmentModule(name).arguments
    arguments = {k: v for k, v in (PARAMETERS | SPECIAL.get(name, {})).items() if k in takes}
    with pytest.raises(ValueError, match=f"^{message}"):
        EnvironmentModule(name).module.configure(**arguments | {"neighbour": 0} | wrong)


def test_what_an_audit_cannot_count_is_an_error_of_the_study():
    cell = SimpleNamespace(horizon=6, paper="some2020", study="audit", environment="changed_reward")
    inputs, params = changed_reward.configure(2, 0), private_ucb.configure(2, 6, 1.0, "as_printed")
    with pytest.raises(PrivarmsError, match=r"studies.audit: changed_reward: horizon: expected an odd"):
        protocol.run_block(private_ucb, params, inputs, cell, 1, None, None)


@pytest.mark.parametrize(("K", "batch", "named"), [(3, 2, "K = 3"), (2, 3, "batch = 3")])
def test_a_subject_of_another_size_is_refused(K, batch, named):
    cell = SimpleNamespace(paper="some2020", study="privacy", policy="ldp_mab", environment="neighbouring_users")
    inputs = neighbouring_users.configure(K, "arm", "quadrant", 0, batch)
    params = ldp_mab.configure(2, 10_000, 1.0, "as_printed", M=0, batch=2)
    with pytest.raises(PrivarmsError, match=named):
        protocol.run_block(ldp_mab, params, inputs, cell, 1, None, None)
