"""Check that a search with many pairs and events does not accuse a policy at the exact limit of its claim.

One search and count errs with a probability of at most 1 - confidence. At confidence 0.8 the number of false alarms
among independent searches is at most binomial, so too many of them would be seen, such as with counts that reuse the
runs of the search.
"""

from typing import NamedTuple

import numpy as np
import scipy
from numba import njit

from privarms.audits.events import any_choice
from privarms.audits.reduction import epsilon_lower_bound
from privarms.policies import Policy

SEARCHES, TRIALS, CONFIDENCE = 60, 1_000, 0.8


class State(NamedTuple):
    arm: int


@njit
def init(params):
    return State(0)


@njit
def choose(params, state, context, t, rng):
    return state.arm


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Choose by randomised response to the last reward: for one changed reward the loss is exactly params."""
    lies = rng.random() < 1 / (1 + np.exp(params))
    return State(int((reward > 0.5) != lies))


def test_a_policy_at_the_limit_of_its_claim_is_accused_no_more_often_than_promised(monkeypatch):
    policy, bounds, scores = Policy(init, choose, learn), [], []
    for seed in range(SEARCHES):
        monkeypatch.setattr(any_choice, "SEARCH_SEED", seed)
        found = any_choice.look(policy, 1.0, "bandit", any_choice.configure(2, 0, 6, 1.0), 6, TRIALS)
        rng, choices = np.random.default_rng([seed, 1]), np.zeros(len(found.event.scores), np.int64)
        events = [
            sum(any_choice.happens(policy, 1.0, table, found.event, choices, rng) for _ in range(TRIALS))
            for table in found.inputs
        ]
        bounds.append(epsilon_lower_bound(events[0], TRIALS, events[1], TRIALS, CONFIDENCE))
        error = np.sqrt(1 / events[0] + 1 / events[1] - 2 / TRIALS)
        scores.append((np.log(events[1] / events[0]) - 1.0) / error)
    most = scipy.stats.binom.isf(1e-5, SEARCHES, 1 - CONFIDENCE)
    assert np.sum(np.array(bounds) > 1.0) <= most
    # No log ratio exceeds 1 in expectation. This sees 6% more, which the bounds of so few trials hide.
    assert np.mean(scores) < scipy.stats.norm.isf(1e-5) / np.sqrt(SEARCHES)
    # The search does find the loss: the bounds are near the claim.
    assert np.median(bounds) > 0.6
