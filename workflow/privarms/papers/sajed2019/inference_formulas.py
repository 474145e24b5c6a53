"""Inference tables without studies: formulas, identities and counter-examples by enumeration."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.inference.rows import as_frame
from privarms.papers.sajed2019 import _bounds as bounds
from privarms.planning.results import Results
from privarms.policies.bandit import dp_ucb
from privarms.registry.artifacts import inference

# The epsilons and K of Figure 1, and values on both sides.
GROWTH_EPSILONS, GROWTH_ARMS = (0.001, 0.01, 0.1, 0.25, 0.5, 1.0, 10.0), (2, 3, 5, 10, 20, 50)
GROWTH_EPOCHS, GROWTH_BETA = range(1, 21), 1 / 50_000_000
TREE_HORIZONS = tuple(10**n for n in range(4, 11))
# For the proof of Theorem 3.3, and for Fact 2.1 from near the ends of its ranges on.
PROOF_SIZES, PROOF_EPSILONS, PROOF_BETAS = (0.01, 0.1, 0.5, 0.7, 0.9, 0.96), (1e-3, 0.1, 1.0, 100.0), (1e-6, 0.08)
FACT_A, FACT_B = (1.05, 1.5, 2.0, 3.0, 10.0, 100.0, 1e4, 1e8), (1 / 17, 0.05, 0.03, 0.01, 1e-3, 1e-5, 1e-8)
# Randomised response on one sample, at most distances a budget at which Lemma 3.5 could fail.
RESPONSE_EPSILONS, RESPONSE_DISTANCES = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0), (1e-4, 1e-3, 0.01, 0.1, 0.5, 1.0)
# Gaps from small ones to the largest, 1.
LEMMA_GAPS, LEMMA_BETAS = (0.01, 0.03, 0.1, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999), (2e-8, 0.05, 0.25)
# The sparse vector technique: queries until it halts, and how far they are above the threshold, in noise scales.
QUERIES, DISTANCES = (1, 2, 10, 1_000), (-10.0, -5.0, -2.0, 0.0, 2.0, 5.0, 10.0)


@inference()
@as_frame
def noise_per_step(results: Results) -> Iterator[dict]:
    """Return the noise of section 1's counter, equal in each round, for epsilon = 1; one row per horizon.

    variance_ratio: its variance over log2(T)^3; deviation_ratio: the root of the variance over ln T; exponent: p for
    which this root grows like ln(T)^p from the smallest horizon on, nan at the smallest
    """
    first = None
    for horizon in TREE_HORIZONS:
        variance = dp_ucb.log2_ceiling(horizon) * 2 * dp_ucb.configure(2, horizon, 1.0, "log3").node_scale ** 2
        now = np.log(variance) / 2, np.log(np.log(horizon))
        first = first or now
        yield {
            "horizon": horizon,
            "variance_ratio": variance / np.log2(horizon) ** 3,
            "deviation_ratio": variance**0.5 / np.log(horizon),
            "exponent": (now[0] - first[0]) / (now[1] - first[1]) if now is not first else np.nan,
        }


@inference()
@as_frame
def fact_2_1(results: Results) -> Iterator[dict]:
    """Return Fact 2.1 by formula; one row per a, b and half of the fact.

    ratio: ln(a ln x) / (b x), the smallest over a grid of x (first half: must be above 1) or the largest (second half:
    must be below 1)
    """
    for a, b in itertools.product(FACT_A, FACT_B):
        end = np.log(a * np.log(1 / b)) / b
        for half, ends, extreme in (("first", (np.e, end), min), ("second", (2 * end, 1e6 * end), max)):
            if ends[0] < ends[1]:
                ratios = [bounds.iterated_logarithm(a, b, float(x)) for x in np.geomspace(*ends, 1001)[1:-1]]
                yield {"a": a, "b": b, "half": half, "ratio": extreme(ratios)}


@inference()
@as_frame
def theorem_3_3_facts(results: Results) -> Iterator[dict]:
    """Return the three facts in the proof of Theorem 3.3 and their conclusions by formula, at the smallest t, R = 1.

    ratio: left over right side of the inequality, which must be at most 1; one row per setting and inequality
    """
    for alpha, mu, epsilon, beta in itertools.product(PROOF_SIZES, PROOF_SIZES, PROOF_EPSILONS, PROOF_BETAS):
        iterated = np.log(1 / (alpha * mu)) / beta
        if iterated <= 1:
            continue
        # t_0, t_1 and t_2, times the factors of the facts; the first query comes at t = 2.
        first = max(2.0, 1000 * np.log(iterated) / (alpha * mu) ** 2)
        second = max(2.0, 1000 * np.log(iterated) / (epsilon * mu))
        third = 48 * np.log(1 / beta) / (epsilon * alpha * mu)
        ratios = {
            "1": np.log(4 * np.log2(first / beta)) / first * (18 / (alpha * mu)) ** 2,
            "1, implied": 2 * np.log(16 * np.log2(first) ** 2 / beta) / first * (9 / (alpha * mu)) ** 2,
            "2": np.log(4 * np.log2(second / beta)) / second * 288 / (epsilon * mu),
            "2, last": np.log(8 * np.log2(second) ** 2 / beta) / 2 / np.log(4 * np.log2(second) / beta),
            "2, implied": 96 * np.log(4 * np.log2(second) / beta) / second * 3 / (epsilon * mu),
            "3": 4 * np.log(4 / beta) / third * 3 / (alpha * epsilon * mu),
        }
        setting = {"alpha": alpha, "mu": mu, "epsilon": epsilon, "beta": beta}
        for fact, value in ratios.items():
            yield setting | {"fact": fact, "ratio": value}


@inference()
def epoch_growth(results: Results) -> pd.DataFrame:
    """Return R_(e+1) over R_e by line 8 (growth); one row per |S|, number of arms left, e and epsilon.

    total: R_1 + ... + R_(e+1) over R_(e+1), if all eliminations happen after epoch e
    """
    settings = list(itertools.product(GROWTH_EPSILONS, GROWTH_ARMS))
    totals = {one: bounds.total_over_last(*one, max(GROWTH_EPOCHS), GROWTH_BETA) for one in settings}
    rows = [
        {"arms": arms, "left": left, "epoch": epoch, "epsilon": epsilon, "beta": GROWTH_BETA}
        | {"growth": bounds.epoch_growth(arms, left, epoch, epsilon, GROWTH_BETA)}
        | {"total": totals[epsilon, arms][epoch]}
        for epsilon, arms, epoch in itertools.product(GROWTH_EPSILONS, GROWTH_ARMS, GROWTH_EPOCHS)
        for left in range(2, arms + 1)
    ]
    rows = [row | {"total": 1 + row["total"] / row["growth"]} for row in rows]
    return pd.DataFrame(rows).sort_values(["growth", "arms", "left", "epoch", "epsilon"], ignore_index=True)


@inference()
@as_frame
def lemma_3_5(results: Results) -> Iterator[dict]:
    """Return Lemma 3.5 for randomised response on one bit, n = 1; one row per epsilon and distance d.

    The mechanism returns its bit with probability e^epsilon / (1 + e^epsilon). D is Bernoulli(d), D' always 0, and the
    output is 1. ratio: Pr[output | D] / Pr[output | D'] = 1 + d (e^epsilon - 1) over the lemma's e^(6 epsilon d)
    """
    for epsilon, distance in itertools.product(RESPONSE_EPSILONS, RESPONSE_DISTANCES):
        likelier = 1 + distance * math.expm1(epsilon)
        yield {"epsilon": epsilon, "distance": distance, "ratio": likelier / math.exp(6 * epsilon * distance)}


@inference()
@as_frame
def lemma_4_2(results: Results) -> Iterator[dict]:
    """Return Lemma 4.2's expression; one row per gap, K, epsilon and beta.

    expression: inside O(), as printed; constant: the pulls that lines 8 to 20 allow over it; small_gap: gap at most 1/e
    """
    for gap, K, epsilon, beta in itertools.product(LEMMA_GAPS, (2, 5, 20), (0.01, 0.25, 10.0), LEMMA_BETAS):
        expression, pulls = (of(gap, K, epsilon, beta) for of in (bounds.pulls_order, bounds.pulls_ceiling))
        setting = {"gap": gap, "K": K, "epsilon": epsilon, "beta": beta, "small_gap": gap <= 1 / math.e}
        yield setting | {"expression": expression, "constant": pulls / expression}


@inference()
@as_frame
def corollary_3_6(results: Results) -> Iterator[dict]:
    """Return Theorem 3.3 against Corollary 3.6, R = 1; one row per setting with ln(R / (alpha |mu|)) <= 1/beta.

    upper: t_0 + t_1 + t_2; factor: upper over the corollary's expression or its inverse, the larger of both; nan if
    upper is not above 0
    """
    sizes = (*PROOF_SIZES, 0.99)
    for alpha, mu, epsilon, beta in itertools.product(sizes, sizes, PROOF_EPSILONS, PROOF_BETAS):
        iterated, log = math.log(1 / (alpha * mu)), math.log(1 / beta)
        if iterated <= 1 / beta:
            upper = math.log(iterated / beta) * (1 / (alpha * mu) ** 2 + 1 / (epsilon * mu))
            upper += log / (epsilon * alpha * mu)
            ratio = upper / bounds.samples_order(epsilon, alpha, beta, mu)
            setting = {"alpha": alpha, "mu": mu, "epsilon": epsilon, "beta": beta}
            yield setting | {"upper": upper, "factor": max(ratio, 1 / ratio) if upper > 0 else math.nan}


@inference()
@as_frame
def sparse_vector(results: Results) -> Iterator[dict]:
    """Return the privacy loss of the sparse vector technique with Lap(3 GS / epsilon), GS = 1; one row per event.

    Event: it halts at the last of `queries` queries. before, last: how far the earlier ones and the last one are above
    the threshold. For the neighbour the earlier ones move up by 1 and the last one down by 1
    loss: log ratio of both probabilities over epsilon. The threshold's noise is on a grid with 1 as a multiple of its
    step, so shifts by 1 are exact; rounded to nine digits
    """
    for epsilon, queries, before, last in itertools.product((0.1, 1.0, 5.0), QUERIES, DISTANCES, DISTANCES):
        scale = 3 / epsilon
        noise = np.arange(-4_000, 4_001) / round(100 / scale) / scale
        shift = 1 / scale
        pair = [
            np.exp(-np.abs(noise)) @ (_laplace_tail(low - noise) ** (queries - 1) * _laplace_tail(noise - high))
            for low, high in ((before, last), (before + shift, last - shift))
        ]
        loss = round(abs(math.log(pair[0] / pair[1])) / epsilon, 9)
        yield {"epsilon": epsilon, "queries": queries, "before": before, "last": last, "loss": loss}


def _laplace_tail(x: np.ndarray) -> np.ndarray:
    """Return the probability that a standard Laplace variable exceeds x."""
    return np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


@inference()
@as_frame
def arithmetic(results: Results) -> Iterator[dict]:
    """Return identities and inequalities of the text; one row per sentence, and `part` of the samples for the rules.

    holds: whether both sides agree, to a relative error of 1e-12, or are ordered as printed
    """
    t, R, alpha, mu, epsilon, beta, K, T = np.arange(1.0, 1e6), 2.0, 0.3, 0.4, 0.7, 0.05, 7.0, 5e7
    rest = 1 / t[-1]  # the sum over larger t of 1/t^2 is smaller
    means = np.linspace(0.25, 0.75, 1001)
    variances = means * (1 - means)
    radius = R * np.sqrt(2 / t * np.log(16 * t**2 / beta))
    iterated = np.log(R / (alpha * mu))
    optimal, printed = np.sqrt(T * K) + K * np.log(T) / epsilon, bounds.regret_order_any_gaps(int(K), int(T), epsilon)
    sentences = {
        "variances": variances.max() / variances.min() <= 4 / 3 * (1 + 1e-12),
        "nas": np.sum(beta / (2 * t**2)) + rest * beta / 2 <= beta,
        "hoeffding": 2 * np.sum(np.exp(-2 * radius**2 * t / (2 * R) ** 2)) + rest * beta / 8 <= beta / 4,
        "queries": np.sum(np.exp(-np.log(8 * t**2 / beta))) + rest * beta / 8 <= beta / 4,
        "parts": np.isclose(np.log(iterated / beta), np.log(1 / beta) + np.log(iterated), rtol=1e-12),
        "minimax": 1 <= printed / optimal <= np.sqrt(np.log(T)),
    }
    for sentence, holds in sentences.items():
        yield {"sentence": sentence, "holds": bool(holds)}
    for part, order in (("the private part", bounds.private_samples), ("both parts", bounds.samples_order)):
        naive, one = K * order(epsilon / K, alpha, beta, mu), order(epsilon, alpha, beta, mu)
        yield {"sentence": "rules", "part": part, "holds": bool(np.isclose(naive, K**2 * one, rtol=1e-12))}
