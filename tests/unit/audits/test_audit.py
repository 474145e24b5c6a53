"""The type of an audit, and the values that every audit of the library refuses."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

from privarms.audits import neighbouring_users, released_number
from privarms.audits.audit import Audit, Inputs, count_events
from privarms.errors import PrivarmsError
from privarms.mechanisms import laplace
from privarms.policies.locally_private import ldp_mab
from privarms.protocols import audit as protocol
from privarms.studies import library

PAIR = [Inputs(0, 1.0), Inputs(1, 1.0)]


def with_probabilities(*chances, **more):
    return Audit(None, lambda params, inputs: chances[inputs.neighbour], **more)


def test_the_log_ratio_has_the_likelier_neighbour_on_top():
    assert with_probabilities(0.1, 0.4).log_ratio(None, PAIR) == pytest.approx(math.log(4))
    assert with_probabilities(0.1, 0.4, likelier=0).log_ratio(None, PAIR) == pytest.approx(-math.log(4))
    assert with_probabilities(0.1, 0.4, likelier=lambda inputs: 0).log_ratio(None, PAIR) == pytest.approx(-math.log(4))
    assert with_probabilities(0.0, 0.4).log_ratio(None, PAIR) == math.inf
    assert math.isnan(with_probabilities(0.0, 0.0).log_ratio(None, PAIR))
    assert math.isnan(Audit(None).log_ratio(None, PAIR))
    assert with_probabilities(0.1, 0.4, closed_form=lambda params, inputs: 7.0).log_ratio(None, PAIR) == 7
    assert Audit(None).claimed(0.3) == 0.3


@njit
def below(limit, rng):
    return rng.random() < limit


def test_events_are_counted():
    draws = np.random.default_rng(3).random(50)
    assert count_events(below, (0.3,), 50, np.random.default_rng(3)) == (draws < 0.3).sum()


# What each audit needs besides the neighbour.
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


@pytest.mark.parametrize("name", library.audits())
def test_every_audit_takes_two_neighbours_and_refuses_another_and_no_noise(name):
    module = library.load("environments", name)
    takes = library.arguments("environments", name)
    given = {k: v for k, v in (PARAMETERS | SPECIAL.get(name, {})).items() if k in takes}
    assert [module.configure(**given, neighbour=n).neighbour for n in (0, 1)] == [0, 1]
    with pytest.raises(ValueError, match="neighbour: expected 0 or 1; found 2"):
        module.configure(**given, neighbour=2)
    if "noise" in takes:
        with pytest.raises(ValueError, match="noise: expected"):
            module.configure(**given, neighbour=0, noise=0.0)
    assert isinstance(module.AUDIT, Audit)


# audit, an impossible value, what the message says
@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("changed_reward", {"K": 3}, "K: expected 2 arms"),
        ("changed_reward", {"event": "first"}, "event: expected last, doublings, first_doublings, half; found 'first'"),
        ("first_reward", {"K": 4}, "K: expected at least 5"),
        ("neighbouring_experiments", {"release": "arms"}, "release: expected"),
        ("neighbouring_experiments", {"T": 7}, "T: expected an even"),
        ("whole_experiments", {"T": 1}, "T: expected"),
        ("neighbouring_streams", {"eliminated": 20}, "eliminated: expected"),
        ("neighbouring_streams", {"shortfall": -1e6}, "shortfall"),
        ("neighbouring_users", {"K": 1}, "K: expected at least 2"),
        ("neighbouring_users", {"differ": "reward"}, "differ: expected context or arm"),
        ("neighbouring_users", {"event": "touched"}, "event: expected quadrant or untouched"),
        ("neighbouring_users", {"batch": 0}, "batch: expected at least 1"),
    ],
)
def test_impossible_inputs_are_refused_by_name(name, wrong, message):
    takes = library.arguments("environments", name)
    given = {k: v for k, v in (PARAMETERS | SPECIAL.get(name, {})).items() if k in takes}
    with pytest.raises(ValueError, match=f"^{message}"):
        library.load("environments", name).configure(**given | {"neighbour": 0} | wrong)


def test_a_block_counts_its_events_in_one_row():
    cell = SimpleNamespace(environment="released_number", horizon=None)
    params, inputs = laplace.configure(epsilon=1.0), released_number.configure(1)
    rows = protocol.run_block(laplace, params, inputs, cell, 400, None, np.random.default_rng(1))
    events = released_number.count(laplace, params, inputs, None, 400, np.random.default_rng(1))
    assert {name: column.tolist() for name, column in rows.items()} == {
        **{"replicate": [0], "trials": [400], "events": [events]}
    }


def test_what_an_audit_cannot_count_is_an_error_of_the_study():
    cell = SimpleNamespace(horizon=6, paper="some2020", study="audit", environment="changed_reward")
    inputs = library.load("environments", "changed_reward").configure(2, 0)
    with pytest.raises(PrivarmsError, match=r"studies.audit: changed_reward: horizon: expected an odd"):
        protocol.run_block(None, SimpleNamespace(_fields=()), inputs, cell, 1, None, None)


@pytest.mark.parametrize(("K", "batch", "named"), [(3, 2, "K = 3"), (2, 3, "batch = 3")])
def test_a_subject_of_another_size_is_refused(K, batch, named):
    cell = SimpleNamespace(paper="some2020", study="privacy", policy="ldp_mab", environment="neighbouring_users")
    inputs = neighbouring_users.configure(K, "arm", "quadrant", 0, batch)
    params = ldp_mab.configure(2, 10_000, 1.0, "as_printed", M=0, batch=2)
    with pytest.raises(PrivarmsError, match=named):
        protocol.run_block(ldp_mab, params, inputs, cell, 1, None, None)
