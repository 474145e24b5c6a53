"""Check that exact values of an audit that contradict its counts are found, and used nowhere."""

import logging
import math

import numpy as np
import pandas as pd
import pytest

from privarms.audits import agreement, verdicts
from privarms.audits.audit import Audit, Inputs
from privarms.audits.events import (
    changed_reward,
    first_choice,
    first_reward,
    neighbouring_samples,
    private_gradients,
    released_number,
    released_vector,
    rewards_of_contexts,
)
from privarms.audits.reduction import reduce
from privarms.mechanisms import l2_ball
from privarms.policies.bandit import dp_imed, dp_klucb, dp_ucb, private_ucb
from privarms.policies.linear import private_linear_ucb
from privarms.policies.locally_private import ldp_linear
from privarms.policies.stopping import dp_nas

PAIR = [Inputs(0), Inputs(1)]
TRIALS = 10_000


def with_values(*chances, loss=None):
    return Audit(
        inputs=released_number.configure,
        event=None,
        exact=lambda params, inputs: chances[inputs.neighbour] if chances else math.nan,
        exact_loss=None if loss is None else lambda params, inputs: loss,
    )


def found(audit, *events):
    return agreement.contradiction(audit, None, PAIR, {n: (events[n], TRIALS) for n in (0, 1)})


def test_right_values_agree_and_each_wrong_one_is_named():
    assert found(with_values(0.1, 0.2), 1_000, 2_000) == ""
    assert found(with_values(0.1, 0.2), 1_120, 1_850) == ""  # four standard errors
    assert found(with_values(0.0, 1.0), 0, TRIALS) == ""
    assert found(with_values(0.1, 0.4), 1_000, 2_000).startswith("The exact formula gives 1.39, outside of the counted")
    # A wrong probability may have the right ratio.
    assert "the probability with neighbour 0: 0.2, outside" in found(with_values(0.2, 0.4), 1_000, 2_000)
    # What is certain or impossible by the formula must be so in every trial.
    assert found(with_values(0.0, 0.2), 1, 2_000) != ""
    assert found(with_values(0.1, 1.0), 1_000, TRIALS - 1) != ""


def test_a_loss_without_probabilities_is_compared_too():
    assert found(with_values(loss=math.log(2)), 1_000, 2_000) == ""
    assert "gives 11.9, outside of the counted interval [0.39" in found(with_values(loss=11.9), 1_000, 2_000)
    assert found(with_values(loss=11.9), 0, 2_000) == ""  # no upper end
    assert found(with_values(), 1_000, 2_000) == ""


@pytest.fixture
def wrong(monkeypatch):
    """Give the audit of the Laplace mechanism a formula with twice the real loss."""
    right = released_number.AUDIT
    monkeypatch.setattr(
        released_number,
        "AUDIT",
        Audit(
            subjects=right.subjects,
            inputs=right.inputs,
            event=right.event,
            exact_loss=lambda params, inputs: 2 * right.exact_loss(params, inputs),
            with_noise=right.with_noise,
            changed=right.changed,
        ),
    )


def counts(**columns):
    rates = {(1.0, 0): math.exp(-1) / 2, (0.5, 0): math.exp(-2) / 2, (1.0, 1): 0.5, (0.5, 1): 0.5}
    rows = [{"noise": m, "neighbour": n, "events": round(100_000 * rate)} for (m, n), rate in rates.items()]
    return pd.DataFrame(rows).assign(
        cell="c", policy="laplace", environment="released_number", epsilon=1.0, trials=100_000
    )


def test_a_wrong_formula_decides_nothing_and_is_reported(wrong, caplog):
    with caplog.at_level(logging.WARNING):
        (row,) = verdicts.table([("p", "s", counts())]).to_dict("records")
    assert np.isnan(row["exact"])
    # With the formula's 2 the verdict would be "not private as claimed".
    assert row["verdict"] == verdicts.NO_VIOLATION
    assert row["note"].startswith("The exact formula gives 2, outside of the counted interval [0.9")
    assert "the formula is not used" in row["note"]
    assert "We computed this probability from the rates of the event in the control." in row["note"]
    assert "released_number: The exact formula gives 2" in caplog.text
    # The tables of papers, and so the claims, do not get it either.
    table = reduce(counts(), released_number.AUDIT, ["epsilon", "noise"])
    assert table["exact"].isna().all()
    assert (table["lower_bound"] > 0.9).all()


def test_the_right_formula_is_kept(caplog):
    (row,) = verdicts.table([("p", "s", counts())]).to_dict("records")
    assert (row["exact"], row["verdict"], caplog.text) == (1, verdicts.NO_VIOLATION, "")


def of_private_ucb(share):
    params = private_ucb.configure(2, 501, 1.0, "as_released")
    return changed_reward, private_ucb, params._replace(gamma_scale=share * params.gamma_scale), (2,), 501


def of_first_choice(policy, ratio, epsilon):
    return first_choice, policy, policy.configure(20, epsilon, ratio=ratio), (20,), None


def of_linear(epsilon, **options):
    params = private_linear_ucb.configure(2, 1, 7, epsilon, **options)
    return rewards_of_contexts, private_linear_ucb, params, (2, 1), 7


def of_samples(**options):
    params = dp_nas.configure(**options)
    return neighbouring_samples, dp_nas, params, options, None


# Settings at which formulas were wrong, and settings just inside of the range of a formula.
EDGES = [
    (of_private_ucb(1.0), True),
    (of_private_ucb(0.2), False),
    (of_first_choice(dp_klucb, 256, 0.25), True),
    (of_first_choice(dp_klucb, 2, 1.0), False),
    (of_first_choice(dp_klucb, 16, 1.0), False),
    (of_first_choice(dp_imed, 64, 1.0), True),
    (of_first_choice(dp_imed, 2, 5.0), False),
    ((first_reward, dp_ucb, dp_ucb.configure(6, 8, 8.0, "exact"), (6,), 8), True),
    ((first_reward, dp_ucb, dp_ucb.configure(6, 8, 8.0, "exact", counter="path"), (6,), 8), False),
    (of_linear(1.0), True),
    (of_linear(0.1, bonus=False, ridge=0.01, beta=0.001), True),
    (of_samples(epsilon=30.0, alpha=0.3, beta=0.5, noise=0.5), True),
]


@pytest.mark.parametrize(("setting", "known"), EDGES)
def test_formulas_agree_with_counts_at_the_edges_of_their_range(setting, known):
    module, policy, params, inputs, horizon = setting
    make = module.AUDIT.inputs
    pair = [make(**inputs, neighbour=n) if isinstance(inputs, dict) else make(*inputs, n) for n in (0, 1)]
    rngs = [np.random.default_rng([11, n]) for n in (0, 1)]
    events = {n: (module.AUDIT.count(policy, params, pair[n], horizon, TRIALS, rngs[n]), TRIALS) for n in (0, 1)}
    assert agreement.contradiction(module.AUDIT, params, pair, events) == ""
    assert math.isnan(module.AUDIT.loss(params, pair)) != known


def test_a_ball_whose_wrong_half_has_no_probability_is_one_clear_error():
    message = "epsilon: expected at most 37 for this audit"
    with pytest.raises(ValueError, match=message):
        released_vector.AUDIT.loss(l2_ball.configure(3, 1.0, 40.0), [released_vector.configure(n) for n in (0, 1)])
    params = ldp_linear.configure(2, 4, 100, 40.0)
    with pytest.raises(ValueError, match=message):
        private_gradients.AUDIT.loss(params, [private_gradients.configure(2, 4, n) for n in (0, 1)])
