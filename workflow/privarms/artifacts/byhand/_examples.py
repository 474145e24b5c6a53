"""Worked examples of the calculations on which verdicts rest: each number beside one that is come by another way.

Which one it is stands beside it: mostly the printed formula in plain arithmetic, every outcome gone through, an
integral, or another library.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.integrate
import scipy.optimize
import scipy.special
import scipy.stats
from statsmodels.stats.proportion import confint_proportions_2indep

from privarms.artifacts.byhand._expected import epoch_length
from privarms.inference import (
    always_valid,
    atoms,
    bias,
    binomial_test,
    bounds,
    divergences,
    fixed_pulls,
    histories,
    intervals,
    laplace_sums,
    lower_bounds,
    max_information,
    mean_difference,
    paired,
    propensity,
    proportions,
    regression,
    transfer_rates,
    uniformity,
)


class Example(NamedTuple):
    """What a function gives and what it should; numbers or arrays of one shape. by: how the latter is come by."""

    function: str
    found: object
    expected: object
    by: str


EXAMPLES: dict[str, Callable[[], Iterator[Example]]] = {}
"""Module -> its examples."""


def of(examples: Callable[[], Iterator[Example]]) -> Callable[[], Iterator[Example]]:
    """Take the examples of a module, whose name the function has, with an underscore behind."""
    EXAMPLES[examples.__name__.removesuffix("_")] = examples
    return examples


ARITHMETIC = "the formula in plain arithmetic"
OUTCOMES = "every outcome gone through"


@of
def atoms_() -> Iterator[Example]:
    found = atoms.atoms([2, 1, 1.05, 1])
    yield Example("atoms", found["count"], [2, 1, 1], "counted")


@of
def bias_() -> Iterator[Example]:
    pulls, sums, means = [[2, 1], [1, 2], [3, 1]], [[1, 1], [1, 0], [1, 0]], [0.5, 0.4]
    errors = [0, 0.5, 1 / 3 - 0.5], [0.6, -0.4, -0.4]
    by_arm = [statistics.mean(e) for e in errors]
    found = bias.sample_mean_bias(pulls, sums, means)
    yield Example("sample_mean_bias", found.bias, by_arm, ARITHMETIC)
    spreads = [statistics.stdev(e) / math.sqrt(3) for e in errors]
    yield Example("sample_mean_bias", found.standard_error, spreads, ARITHMETIC)
    value, _ = bias.average_absolute_bias(pulls, sums, means)
    yield Example("average_absolute_bias", value, statistics.mean(map(abs, by_arm)), ARITHMETIC)
    folded = []
    for mean, arm in zip(by_arm, errors, strict=True):
        spread = statistics.stdev(arm) * math.sqrt(1 / 2 - 1 / 3)
        folded.append(scipy.stats.foldnorm.mean(abs(mean) / spread, scale=spread))
    found = bias.expected_average(pulls, sums, means, 2)
    yield Example("expected_average", found.value, statistics.mean(folded), "scipy.stats.foldnorm")
    # p-values .069, 1e-23 and .32.
    yield Example("significant_arms", bias.significant_arms([0.1, 0.1, 0.1], [0.055, 0.01, 0.1]), 1, "a normal table")
    yield Example("bias_bound", bias.bias_bound(0.5, 0.4, 100, 1e-3), (math.exp(0.5) - 1 + 0.1) * 0.4, ARITHMETIC)
    yield Example("underestimate_bound", bias.underestimate_bound(0.5, 0.4), (1 - math.exp(-0.5)) * 0.4, ARITHMETIC)
    yield Example("stopping_bias", bias.stopping_bias(0.5, 0.4, 10), _stopping_bias(0.5, 0.4, 10), OUTCOMES)
    log = math.log(1000)
    yield Example("tradeoff_epsilon", bias.tradeoff_epsilon(5, 1000), log * math.sqrt(log / 5000), ARITHMETIC)
    yield Example("tradeoff_regret_order", bias.tradeoff_regret_order(5, 1000), math.sqrt(5000 * log), ARITHMETIC)
    private = 100 * log * (math.log(log) + math.log(100))
    yield Example("private_regret_order", bias.private_regret_order(0.01, 5, 1000), private, ARITHMETIC)


def _stopping_bias(epsilon: float, mu: float, T: int) -> float:
    """Over the first reward and the answer about it: the sample mean at the end, less mu."""
    right = math.exp(epsilon) / (1 + math.exp(epsilon))
    expected = -mu
    for reward, answer in itertools.product((0, 1), (0, 1)):
        chance = (mu if reward else 1 - mu) * (right if answer == reward else 1 - right)
        expected += chance * ((reward + (T - 1) * mu) / T if answer else reward)
    return expected


@of
def binomial_test_() -> Iterator[Example]:
    law = [math.comb(10, s) * 0.4**s * 0.6 ** (10 - s) for s in range(11)]
    found = binomial_test.randomised_p_value(6, 10, 0.4, 0.3)
    yield Example("randomised_p_value", found, sum(law[7:]) + 0.3 * law[6], OUTCOMES)
    found = binomial_test.randomised_p_value(3, 10, 0.4, 0.3, "less")
    yield Example("randomised_p_value", found, sum(law[:3]) + 0.3 * law[3], OUTCOMES)


@of
def bounds_() -> Iterator[Example]:
    epsilon, alpha, beta, mu = 0.5, 0.25, 0.05, 0.2
    log = math.log(math.log(1 / (alpha * mu)) / beta)
    t = log / (alpha * mu) ** 2 + log / (epsilon * mu) + math.log(20) / (epsilon * alpha * mu)
    yield Example("halting_time", bounds.halting_time(epsilon, alpha, beta, mu), 2000 * t, ARITHMETIC)
    few = math.log(20) / (12 * alpha * mu * epsilon)
    yield Example("private_samples", bounds.private_samples(epsilon, alpha, beta, mu), few, ARITHMETIC)
    most = 1.25 * math.log(0.7 / 0.05) / (6 * epsilon * alpha * mu)
    found = bounds.private_samples_of_proof(epsilon, alpha, beta, mu)
    yield Example("private_samples_of_proof", found, most, ARITHMETIC)
    order = math.log(20) * (1 / 0.05**2 + 1 / (0.5 * 0.05))
    yield Example("samples_order", bounds.samples_order(epsilon, alpha, beta, mu), order, ARITHMETIC)
    twice = math.log(2 * math.log(9))
    yield Example("iterated_logarithm", bounds.iterated_logarithm(2, 0.05, 9), twice / 0.45, ARITHMETIC)
    order = (math.log(5 / 0.01) + math.log(math.log(10))) * (100 + 10 / 0.5)
    yield Example("pulls_order", bounds.pulls_order(0.1, 5, 0.5, 0.01), order, ARITHMETIC)
    ceiling = sum(math.ceil(epoch_length(5, e, 0.5, 0.01)) for e in (1, 2, 3, 4))
    yield Example("pulls_ceiling", bounds.pulls_ceiling(0.1, 5, 0.5, 0.01), ceiling, ARITHMETIC)
    order = math.log(100) * (1 / 0.1 + 1 / 0.3 + 3 / 0.5)
    yield Example("regret_order", bounds.regret_order([0, 0.1, 0.3], 100, 0.5), order, ARITHMETIC)
    order = math.sqrt(300 * math.log(100)) + 6 * math.log(100)
    yield Example("regret_order_any_gaps", bounds.regret_order_any_gaps(3, 100, 0.5), order, ARITHMETIC)
    growth = epoch_length(2, 3, 0.01, 0.1) / epoch_length(5, 2, 0.01, 0.1)
    yield Example("epoch_growth", bounds.epoch_growth(5, 2, 2, 0.01, 0.1), growth, ARITHMETIC)


@of
def divergences_() -> Iterator[Example]:
    x, y, epsilon = 0.3, 0.8, 0.7

    def kl(p: float, q: float) -> float:
        return float(scipy.special.rel_entr([p, 1 - p], [q, 1 - q]).sum())

    def least(p: float, q: float, budget: float = epsilon) -> float:
        inside = scipy.optimize.minimize_scalar(
            lambda z: kl(z, q) + budget * (z - p), bounds=(p, q), method="bounded", options={"xatol": 1e-12}
        )
        return min(float(inside.fun), kl(p, q), budget * (q - p))

    yield Example("kl", divergences.kl(x, y), kl(x, y), "scipy.special.rel_entr")
    yield Example("d_epsilon", divergences.d_epsilon(x, y, epsilon), least(x, y), "scipy.optimize")
    yield Example("d_epsilon", divergences.d_epsilon(x, 0.35, epsilon), least(x, 0.35), "scipy.optimize")
    for level in (0.01, 0.1, 0.5):
        root = scipy.optimize.brentq(lambda q: kl(x, q) - level, x, 1 - 1e-12, xtol=1e-14)  # noqa: B023
        yield Example("kl_upper", divergences.kl_upper(x, level), root, "scipy.optimize")
        root = scipy.optimize.brentq(lambda q: least(x, q, 2.0) - level, x, 1 - 1e-12, xtol=1e-14)  # noqa: B023
        yield Example("d_epsilon_upper", divergences.d_epsilon_upper(x, level, 2.0), root, "scipy.optimize")


@of
def lower_bounds_() -> Iterator[Example]:
    # One arm of the second bound has kl, the other 6 epsilon times the gap.
    means, epsilon = [0.8, 0.5, 0.3], 0.15
    kl = [float(scipy.special.rel_entr([m, 1 - m], [0.8, 0.2]).sum()) for m in means[1:]]
    gaps = [0.3, 0.5]
    printed = sum(gap / d for gap, d in zip(gaps, kl, strict=True))
    yield Example("lai_robbins", lower_bounds.lai_robbins(means), printed, "scipy.special.rel_entr")
    printed = sum(gap / min(d, 6 * epsilon * gap) for gap, d in zip(gaps, kl, strict=True))
    yield Example("azize_basu", lower_bounds.azize_basu(means, epsilon), printed, "scipy.special.rel_entr")
    # Where the infimum is inside, -ln(1 - y (1 - e^-epsilon)) - epsilon x.
    inside = -math.log(1 - 0.8 * (1 - math.exp(-epsilon)))
    printed = sum(gap / (inside - epsilon * (0.8 - gap)) for gap in gaps)
    yield Example("azize", lower_bounds.azize(means, epsilon), printed, ARITHMETIC)


@of
def always_valid_() -> Iterator[Example]:
    s, n, m = 7, 10, 0.4
    prior = scipy.stats.beta(0.5, 0.5)

    def mixed(low: float) -> float:
        return scipy.integrate.quad(lambda p: prior.pdf(p) * p**s * (1 - p) ** (n - s), low, 1, epsrel=1e-12)[0]

    ratio = mixed(m) / prior.sf(m) / (m**s * (1 - m) ** (n - s))
    yield Example("log_e_value", always_valid.log_e_value(s, n, m), math.log(ratio), "an integral")
    both = mixed(0)

    def wealth(p: float) -> float:
        return math.log(both / (p**s * (1 - p) ** (n - s))) - math.log(20)

    ends = [scipy.optimize.brentq(wealth, *between, xtol=1e-13) for between in ((1e-9, s / n), (s / n, 1 - 1e-9))]
    yield Example("confidence_sequence", always_valid.confidence_sequence(s, n), ends, "an integral")


@of
def fixed_pulls_() -> Iterator[Example]:
    s, n, m, alpha = 7, 10, 0.4, 0.1
    exact = scipy.stats.binomtest(s, n, m, alternative="greater").pvalue
    yield Example("log_p_value", fixed_pulls.log_p_value(s, n, m), math.log(exact), "scipy.stats.binomtest")
    ends = scipy.stats.binomtest(s, n).proportion_ci(1 - alpha, "exact")
    yield Example("exact_interval", fixed_pulls.exact_interval(s, n, alpha), tuple(ends), "scipy.stats.binomtest")
    ends = scipy.stats.binomtest(s, n).proportion_ci(1 - alpha, "wilson")
    yield Example("wilson_interval", fixed_pulls.wilson_interval(s, n, alpha), tuple(ends), "scipy.stats.binomtest")
    ends = confint_proportions_2indep(s, n, 12, 30, method="newcomb", alpha=alpha)
    yield Example("newcombe_interval", fixed_pulls.newcombe_interval(s, n, 12, 30, alpha), ends, "statsmodels")
    level = math.log(2 / alpha) / n
    ends = [_where_kl_is(level, s / n, between) for between in ((1e-12, s / n), (s / n, 1 - 1e-12))]
    found = fixed_pulls.chernoff_interval(s, n, math.log(alpha))
    yield Example("chernoff_interval", found, ends, "scipy.optimize")
    yield Example("kl_interval", fixed_pulls.kl_interval(s / n, level), ends, "scipy.optimize")
    yield Example("difference_interval", fixed_pulls.difference_interval((1, 4), (2, 7)), (-6, 2), ARITHMETIC)


def _where_kl_is(level: float, p: float, between: Sequence[float]) -> float:
    def over(q: float) -> float:
        return float(scipy.special.rel_entr([p, 1 - p], [q, 1 - q]).sum()) - level

    return scipy.optimize.brentq(over, *between, xtol=1e-14)


@of
def histories_() -> Iterator[Example]:
    pulls = [[4, 2, 9], [5, 5, 1]]
    yield Example("least_pulled", histories.least_pulled(pulls), [1, 2], "seen")
    yield Example("most_pulled", histories.most_pulled(pulls), [2, 0], "seen")


@of
def intervals_() -> Iterator[Example]:
    ends = scipy.stats.norm.interval(0.95, loc=1, scale=0.5)
    yield Example("normal_interval", intervals.normal_interval(1, 0.5), ends, "scipy.stats.norm")


@of
def proportions_() -> Iterator[Example]:
    ends = scipy.stats.binomtest(3, 20).proportion_ci(0.95, "exact")
    yield Example("clopper_pearson", proportions.clopper_pearson(3, 20), tuple(ends), "scipy.stats.binomtest")


@of
def laplace_sums_() -> Iterator[Example]:
    c, n = 64.0, 10_000
    tail = scipy.stats.norm.sf(math.sqrt(c * math.log(n)) / math.sqrt(32 * (1 + 1)))
    found = laplace_sums.log_miss_at_one_look(c, n)
    yield Example("log_miss_at_one_look", found, math.log(2 * tail), "scipy.stats.norm")
    by_hand = _miss_bound(512.0, n, 8, n)
    yield Example("log_miss_bound", laplace_sums.log_miss_bound(512.0, n, 8), by_hand, ARITHMETIC)


def _miss_bound(c: float, n: int, K: int, bins: int) -> float:
    """Chernoff's bound, step by step over the same looks and arguments, for rewards in [0, 1] and f = 1."""
    looks = sorted({int(x) for x in np.geomspace(math.ceil(math.log(n) ** 2), n + 1, 200)})
    total = 0.0
    for t, following in itertools.pairwise(looks):
        least = min(
            t * (s * s / 128 - 2 * math.log(1 - s * s)) - s * math.sqrt(c * math.log(n) * t) / 4
            for s in (i / 2_001 for i in range(1, 2_001))
        )
        total += (following - t) * math.exp(least)
    return math.log(2 * total * K * bins)


@of
def max_information_() -> Iterator[Example]:
    epsilon, T, beta, alpha = 0.02, 500, 0.01, 0.05
    x = epsilon**2 * T / 2 + epsilon * math.sqrt(T * math.log(2 / beta) / 2)
    yield Example("max_information_nats", max_information.max_information_nats(epsilon, T, beta), x, ARITHMETIC)
    found = max_information.corrected_level(alpha, epsilon, T, beta)
    yield Example("corrected_level", found, (alpha - beta) / math.exp(x), ARITHMETIC)
    found = max_information.corrected_p_value(0.001, epsilon, T, beta)
    yield Example("corrected_p_value", found, 0.001 * math.exp(x) + beta, ARITHMETIC)
    found = max_information.printed_level(alpha, epsilon, T, beta)
    yield Example("printed_level", found, alpha / math.exp(x), ARITHMETIC)

    def slope(b: float) -> float:
        return 1 / (alpha - b) - epsilon * math.sqrt(T / 2) / (2 * b * math.sqrt(math.log(2 / b)))

    best = scipy.optimize.brentq(slope, 1e-9, alpha - 1e-9, xtol=1e-16)
    yield Example("best_beta", max_information.best_beta(epsilon, T, alpha), best, "scipy.optimize")
    power = epsilon**2 * T / 2 + epsilon * math.sqrt(T * math.log(2))
    found = max_information.released_level(alpha, epsilon, T)
    yield Example("released_level", found, alpha / (math.e * power), ARITHMETIC)


@of
def mean_difference_() -> Iterator[Example]:
    T, v0, v1, epsilon = 50.0, 0.2, 0.25, 0.5
    variances = [mean_difference.variance(T, v0, v1, name, epsilon) for name in mean_difference.INTERVALS]
    plain = (v0 + v1) / T
    yield Example("variance", variances, [plain, 2 * plain, 2 * plain + 8 / (epsilon * T) ** 2], ARITHMETIC)
    found = mean_difference.mean_difference(4, 1, 5, 3)
    yield Example("mean_difference", found, 3 / 5 - 1 / 4, ARITHMETIC)
    # 1.8 standard errors are inside 95%, 2.1 outside.
    share, _, _ = mean_difference.coverage([1.8, 2.1, -1.0, 0.5], 0.0, 1.0)
    yield Example("coverage", share, 0.75, "a normal table")
    estimates = [0.1, 0.3, -0.2, 0.25]
    scaled = [math.sqrt(T) * (e - 0.1) / math.sqrt(v0 + v1) for e in estimates]
    ratio = mean_difference.variance_ratio(estimates, 0.1, T, v0, v1)
    yield Example("variance_ratio", ratio, statistics.variance(scaled), "statistics.variance")
    squares = [(z - statistics.mean(scaled)) ** 2 for z in scaled]
    error = mean_difference.variance_ratio_error(estimates, 0.1, T, v0, v1)
    yield Example("variance_ratio_error", error, statistics.stdev(squares) / 2, "statistics.stdev")
    z = [(e - 0.1) / 0.2 for e in estimates]
    found = mean_difference.standardised(estimates, 0.1, 0.04)
    yield Example("standardised", found, z, ARITHMETIC)
    distance, _ = mean_difference.normality(estimates, 0.1, 0.04)
    yield Example("normality", distance, _distance(sorted(z), statistics.NormalDist().cdf), OUTCOMES)
    normal, sample = mean_difference.quantiles(estimates, 0.1, 0.04, [0.25, 0.75])
    expected = [statistics.NormalDist().inv_cdf(q) for q in (0.25, 0.75)]
    yield Example("quantiles", normal, expected, "statistics.NormalDist")
    yield Example("quantiles", sample, statistics.quantiles(z, n=4, method="inclusive")[::2], "statistics.quantiles")
    chances = [math.comb(6, k) for k in range(1, 6)]
    one_over = sum(c / k for k, c in zip(range(1, 6), chances, strict=True)) / sum(chances)
    yield Example("exact_variance", mean_difference.exact_variance(6, v0, v1), one_over * (v0 + v1), OUTCOMES)
    found = mean_difference.inverse_propensity_variance(T, [0.3, 0.6], [v0, v1])
    # Each patient gives 2 Y_1 or -2 Y_0 with probability 1/2.
    second = 0.5 * 4 * (v0 + 0.3**2) + 0.5 * 4 * (v1 + 0.6**2)
    yield Example("inverse_propensity_variance", found, (second - 0.3**2) / T, ARITHMETIC)
    yield Example("relative_bias", mean_difference.relative_bias(4.0, math.inf), -1 / 16, OUTCOMES)
    law = lap_plus_law(20, epsilon)
    bias_of = -sum(p * 2.0**-k for k, p in law.items() if k) / (1 - law[0])
    yield Example("relative_bias", mean_difference.relative_bias(20.0, epsilon), bias_of, OUTCOMES)
    errors = sum(p * (2 * (v0 + v1) / k + 8 / (epsilon * k) ** 2) for k, p in law.items() if k) / (1 - law[0])
    yield Example("private_variance", mean_difference.private_variance(20.0, v0, v1, epsilon), errors, OUTCOMES)


def _distance(ordered: Sequence[float], law: Callable[[float], float]) -> float:
    """The largest gap between a sample's steps and a law: Kolmogorov and Smirnov's."""
    n = len(ordered)
    return max(max((i + 1) / n - law(x), law(x) - i / n) for i, x in enumerate(ordered))


def lap_plus_law(m: int, epsilon: float) -> dict[int, float]:
    """Lap+(m), proportional to e^(-epsilon |k - m| / 2) on k = 0, 1, ...: Li, Shi & Simchi-Levi 2024, appendix A.4."""
    weights = {k: math.exp(-epsilon * abs(k - m) / 2) for k in range(m + int(100 / epsilon))}
    total = math.fsum(weights.values())
    return {k: w / total for k, w in weights.items()}


@of
def paired_() -> Iterator[Example]:
    ours, others = [5.0, 7.1, 6.2, 9.3, 4.4], [4.5, 7.9, 5.2, 6.3, 4.3]
    differences = [a - b for a, b in zip(ours, others, strict=True)]
    yield Example("wilcoxon_p_value", paired.wilcoxon_p_value(ours, others), _signed_ranks(differences), OUTCOMES)
    yield Example("holm", paired.holm([0.03, 0.01, 0.02]), [0.04, 0.03, 0.04], ARITHMETIC)
    # Of three replicates the smallest is drawn three times with probability 1/27, between 2.5% and 5%.
    found = paired.paired_bootstrap([1.0, 2.0, 4.0], [0.0, 0.0, 0.0], np.random.default_rng(1), 20_000)
    yield Example("paired_bootstrap", found, (7 / 3, 1.0, 4.0), OUTCOMES)
    rows = pd.DataFrame(
        {
            "method": np.repeat(["a", "b", "c"], 8),
            "replicate": np.tile(np.arange(8), 3),
            "value": [*np.arange(8) + 1.0, *np.arange(8) + np.tile([1.3, 0.6], 4), *np.zeros(8)],
        }
    )
    compared = paired.compare(rows, "value", "method", "replicate")
    # a is better than c in every replicate, and than b in half of them by .4 where b is by .3.
    yield Example("compare", compared["best"].astype(int), [1, 0, 0], "seen")
    yield Example("compare", compared["significant"].astype(int), [0, 0, 0], "seen")
    ranks = paired.rank_sums(rows, "value", "method", "replicate")
    yield Example("rank_sums", ranks["rank_sum"], [12, 12, 24], "counted")


def _signed_ranks(differences: Sequence[float]) -> float:
    """The share of all signs whose rank sum is the observed one or more: Wilcoxon 1945."""
    order = sorted(range(len(differences)), key=lambda i: abs(differences[i]))
    rank = {i: place + 1 for place, i in enumerate(order)}
    seen = sum(rank[i] for i, d in enumerate(differences) if d > 0)
    sums = [sum(np.multiply(signs, list(rank.values()))) for signs in itertools.product((0, 1), repeat=len(rank))]
    return sum(total >= seen for total in sums) / len(sums)


@of
def propensity_() -> Iterator[Example]:
    arms, rewards, p = [1, 0, 1, 0, 1, 1, 0], [2.0, 1.0, 3.0, 0.5, 1.5, 4.0, 2.5], 0.4
    treated = [r for a, r in zip(arms, rewards, strict=True) if a]
    control = [r for a, r in zip(arms, rewards, strict=True) if not a]
    expected = statistics.mean(treated) - statistics.mean(control)
    yield Example("mean_difference", propensity.mean_difference(arms, rewards), expected, ARITHMETIC)
    expected = (sum(treated) / p - sum(control) / (1 - p)) / 7
    yield Example("inverse_propensity", propensity.inverse_propensity(arms, rewards, p), expected, ARITHMETIC)
    of_first, of_second = ((1.0, 2.5), (1.5, 2.75))
    second = [_score(a, r, of_first, p) for a, r in zip(arms[3:], rewards[3:], strict=True)]
    first = [_score(a, r, of_second, p) for a, r in zip(arms[:3], rewards[:3], strict=True)]
    found = propensity.half_sample(arms, rewards, propensity=p)
    yield Example("half_sample", found, statistics.mean(second), ARITHMETIC)
    found = propensity.cross_fitted(arms, rewards, propensity=p)
    yield Example("cross_fitted", found, statistics.mean(first + second), ARITHMETIC)
    vectors, penalty = np.array([[1.0, 0.0], [0.5, 2.0]]), 0.7
    rows = vectors[arms]
    # A ridge is least squares with rows sqrt(penalty) I and rewards 0 below.
    below = np.vstack([rows, math.sqrt(penalty) * np.eye(2)])
    theta = np.linalg.lstsq(below, np.array([*rewards, 0, 0]), rcond=None)[0]
    expected = float((vectors[1] - vectors[0]) @ theta)
    found = propensity.plug_in_ridge(arms, rewards, vectors, penalty)
    yield Example("plug_in_ridge", found, expected, "numpy.linalg.lstsq")


def _score(arm: int, reward: float, means: Sequence[float], p: float) -> float:
    return means[1] - means[0] + ((reward - means[1]) / p if arm else -(reward - means[0]) / (1 - p))


@of
def regression_() -> Iterator[Example]:
    X, y = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]]), np.array([1.0, 2.0, -0.5])
    theta = np.linalg.lstsq(X, y, rcond=None)[0]
    found = regression.ols_from_moments(X.T @ X, X.T @ y).coefficients
    yield Example("ols_from_moments", found, theta, "numpy.linalg.lstsq")
    yield Example("ols", regression.ols(X, y).coefficients, theta, "numpy.linalg.lstsq")
    yield Example("z_score", regression.z_score(1.2, 0.2, 0.25), 2.0, ARITHMETIC)
    yield Example("two_sided_p_value", regression.two_sided_p_value(-1.5), math.erfc(1.5 / math.sqrt(2)), "math.erfc")


@of
def transfer_rates_() -> Iterator[Example]:
    n, epsilon, K, d = 10_000, 0.5, 3, 2
    effective = min(n * epsilon**2 / (9 * math.log(n)), (n / (3 * math.log(n))) ** 1.5)
    found = transfer_rates.regret_rate(n, epsilon, K, d)
    yield Example("regret_rate", found, n / effective ** (1 / 3), ARITHMETIC)
    log = math.log(20_000)
    own = min(n * epsilon**2 / (9 * log), (n / (3 * log)) ** 1.5)
    of_source = min((0.5**2 * 20_000 / (9 * log)) ** (6 / 8), (0.5 * 20_000 / (3 * log)) ** (6 / 5))
    helped = own + of_source
    found = transfer_rates.regret_rate(n, epsilon, K, d, sources=[(20_000, 1.0, 1.0, 0.5)])
    yield Example("regret_rate", found, n / helped ** (1 / 3), ARITHMETIC)


@of
def uniformity_() -> Iterator[Example]:
    p_values = [0.3, 0.9, 0.6, 0.8]
    expected = _distance(sorted(p_values), lambda p: p)
    yield Example("ks_uniform", uniformity.ks_uniform(p_values).distance, expected, OUTCOMES)
    yield Example("rejection_rate", uniformity.rejection_rate([0.03, 0.08, 0.5, 0.01]).rate, 0.5, "counted")
