"""Instances of the paper's general statements that are enumerated, so their values are exact up to rounding."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from privarms.inference.rows import as_frame

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0)


@as_frame
def responses(horizon: int = 12) -> Iterator[dict]:
    """Return shares of Theorem 1's bounds for a private bandit, K = 2; one row per epsilon, delta, means and arm.

    The first arm is chosen by a fair coin. Each later choice stays or leaves, and its decision is randomised response
    to the last reward: it reveals the reward with probability delta, and otherwise repeats it with probability
    e^epsilon / (1 + e^epsilon). Each reward is in one choice, so the choices are (epsilon, delta)-private. A row has
    the largest shares over t = 1, ..., horizon, each with the bound at T = t. An arm's mean counts if it was pulled.
    """
    pairs = ((0.5, 0.5), (0.9, 0.1), (0.99, 0.5))
    for epsilon, delta, means in itertools.product(EPSILONS, (0.0, 0.01, 0.1), pairs):
        biases = np.array(list(_biases(epsilon, delta, means, horizon)))
        t = np.arange(1, horizon + 1)
        for arm, mean in enumerate(means):
            bias = biases[:, arm]
            yield {
                "policy": "randomised responses",
                "variant": "as_printed",
                "K": 2,
                "horizon": horizon,
                "epsilon": epsilon,
                "delta": delta,
                "arm": arm,
                "mean": mean,
                "of_bound": (np.abs(bias) / ((math.expm1(epsilon) + t * delta) * mean)).max(),
                "of_proof": (-bias / ((-math.expm1(-epsilon) + t * delta) * mean)).max(),
            }


def _biases(epsilon: float, delta: float, means: tuple[float, float], horizon: int) -> Iterator[list[float]]:
    """Yield, for t = 1, ..., horizon, the biases of the two sample means, in the runs in which the arm was pulled."""
    repeat = delta + (1 - delta) / (1 + math.exp(-epsilon))
    # (arm, pulls of both arms, sums of both arms) -> probability before the reward of the round
    before = {(arm, (0, 0), (0, 0)): 0.5 for arm in (0, 1)}
    for _ in range(horizon):
        after, later = defaultdict(float), defaultdict(float)
        for (arm, pulls, sums), p in before.items():
            for reward in (0, 1):
                q = p * (means[arm] if reward else 1 - means[arm])
                n = tuple(pulls[a] + (a == arm) for a in (0, 1))
                s = tuple(sums[a] + reward * (a == arm) for a in (0, 1))
                after[n, s] += q
                stays = repeat if reward else 1 - repeat
                later[arm, n, s] += q * stays
                later[1 - arm, n, s] += q * (1 - stays)
        before = later
        yield [_bias(after, arm, means[arm]) for arm in (0, 1)]


def _bias(after: dict, arm: int, mean: float) -> float:
    pulled = [(s[arm] / n[arm], p) for (n, s), p in after.items() if n[arm]]
    return sum(value * p for value, p in pulled) / sum(p for _, p in pulled) - mean


@as_frame
def max_informations() -> Iterator[dict]:
    """Return the share of Theorem 4's bound that randomised response reaches; one row per n, epsilon, beta, logarithm.

    D is n fair bits, and A(D) reports each with probability e^epsilon / (1 + e^epsilon). Whether an event is likelier
    together than apart depends only on the number of right reports. By Neyman and Pearson the supremum of Definition 3
    is over the events that there are at least m of them.
    logarithm: of 2/beta in the bound, whose base the paper does not print; all others have base 2
    """
    for n, epsilon, beta in itertools.product(
        (1, 2, 10, 100, 500), (0.01, 500**-0.5, 0.1, 0.5, 1.0, 2.0), (1e-6, 1e-3, 0.01, 0.05, 0.2, 0.5)
    ):
        m = np.arange(n + 1)
        together, apart = binom.sf(m - 1, n, 1 / (1 + math.exp(-epsilon))), binom.logsf(m - 1, n, 0.5)
        likely = together > beta
        bits = float((np.log(together[likely] - beta) - apart[likely]).max()) / math.log(2)
        for logarithm, log in (("natural", math.log), ("binary", math.log2)):
            bound = (epsilon**2 * n / 2 + epsilon * math.sqrt(n * log(2 / beta) / 2)) / math.log(2)
            setting = {"n": n, "epsilon": epsilon, "beta": beta, "logarithm": logarithm}
            yield setting | {"bits": bits, "bound": bound, "of_bound": bits / bound}


@as_frame
def interactions() -> Iterator[dict]:
    """Return whether Claim 1's two distributions are equal; one row per policy and distribution of a row of rewards.

    K = 2, T = 3 and rewards 0 or 1. All 128 deterministic policies are enumerated, of which every other policy is a
    mixture, with all 64 tables of rewards, in fractions. A row of the table has independent, equal or opposite rewards.
    """
    half, third = Fraction(1, 2), Fraction(1, 3)
    laws = {
        "independent": {(a, b): (third if a else 1 - third) * half for a in (0, 1) for b in (0, 1)},
        "equal": {(0, 0): half, (1, 1): half},
        "opposite": {(0, 1): half, (1, 0): half},
    }
    # The rewards so far determine the arms so far.
    histories = [rewards for t in range(3) for rewards in itertools.product((0, 1), repeat=t)]
    for number, arms in enumerate(itertools.product((0, 1), repeat=len(histories))):
        choices = dict(zip(histories, arms, strict=True))
        for name, law in laws.items():
            equal = _drawn_later(choices, law) == _drawn_before(choices, law)
            yield {"policy_number": number, "rewards": name, "equal": equal}


def _drawn_later(choices: dict, law: dict) -> dict:
    """Return the distribution of rewards of `Bandit`, which draws a reward when its arm is pulled."""
    found = {(): Fraction(1)}
    for _ in range(3):
        found = {
            (*rewards, new): p * chance
            for rewards, p in found.items()
            for new in (0, 1)
            if (chance := sum(q for row, q in law.items() if row[choices[rewards]] == new))
        }
    return found


def _drawn_before(choices: dict, law: dict) -> dict:
    """Return the distribution of rewards of `InteractQuery`, which reads a table of rewards drawn in advance."""
    found = defaultdict(Fraction)
    for table in itertools.product(law, repeat=3):
        rewards: tuple[int, ...] = ()
        for row in table:
            rewards = (*rewards, row[choices[rewards]])
        found[rewards] += math.prod(law[row] for row in table)
    return dict(found)
