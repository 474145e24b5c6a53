"""How private DP-SE is at the end of epoch 1: exactly, and from counts.

The streams and the event are those of `environments.neighbouring_streams`.
"""

import itertools

import numpy as np
from scipy.special import roots_legendre
from scipy.stats import binom, laplace

from privarms.elimination import epochs
from privarms.inference.proportions import clopper_pearson


def event_probability(params: epochs.Params, reward_sums, eliminated: int) -> float:
    """The probability that, in epoch 1, at least `eliminated` arms other than arm 0 are eliminated.

    params: of dp_se, with any multiple of the noise; reward_sums: float64[K], equal for all arms but arm 0
    In units of the Laplace scale of line 17, with the common mean of the others at 0, arm 0 at `lead` and the margin
    2 h_1 + 2 c_1: the highest private mean is at x, and held by arm 0 or by one of the n = K - 1 others. The rest
    are then independent Laplace variables below x, of which those below x - margin are eliminated:

      integral of f(x - lead) F(x)^n B_n(x) + n f(x) F(x)^(n-1) F(x - lead) B_(n-1)(x) dx,

    f and F the standard Laplace density and distribution function, B_m(x) the probability that a binomial of m
    trials with success probability F(x - margin) / F(x) is at least `eliminated`.
    Raises ValueError where the other sums differ or `eliminated` is not in [1, K - 1].
    """
    K = params.n_arms
    reward_sums = np.asarray(reward_sums, float)
    if reward_sums.shape != (K,) or np.ptp(reward_sums[1:]) > 0:
        raise ValueError(f"reward_sums: expected {K} sums, equal for all arms but the first")
    if not 1 <= eliminated <= K - 1:
        raise ValueError(f"eliminated: expected 1 to {K - 1} arms; found {eliminated}")
    n = K - 1
    scale = epochs.noise_scale(params, K, 1)
    pulls = np.ceil(epochs.epoch_length(params, K, 1))
    lead = (reward_sums[0] - reward_sums[1]) / pulls / scale
    margin = epochs.elimination_margin(params, K, 1) / scale

    def density(x):
        below, rest = laplace.cdf(x), laplace.cdf(x - margin) / laplace.cdf(x)
        leader_highest = laplace.pdf(x - lead) * below**n * binom.sf(eliminated - 1, n, rest)
        other_highest = n * laplace.pdf(x) * below ** (n - 1) * laplace.cdf(x - lead)
        return leader_highest + other_highest * binom.sf(eliminated - 1, n - 1, rest)

    # Smooth but for kinks at 0, lead and margin; 60 scales beyond them a Laplace tail is below 1e-26. On panels of half
    # a scale that end at the kinks, 20 Gauss-Legendre nodes leave nothing but rounding.
    kinks = sorted({0.0, lead, margin})
    steps = np.arange(0.5, 60.5, 0.5)
    inside = [a + (b - a) * np.linspace(0, 1, int(2 * (b - a)) + 2)[1:] for a, b in itertools.pairwise(kinks)]
    cuts = np.concatenate([kinks[0] - steps[::-1], kinks[:1], *inside, kinks[-1] + steps])
    nodes, weights = roots_legendre(20)
    centres, halves = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
    return float((density(centres[:, None] + halves[:, None] * nodes) @ weights) @ halves)


def log_ratio(params: epochs.Params, reward_sums, neighbour_sums, eliminated: int) -> float:
    """ln(Pr[event | neighbour] / Pr[event]): at most epsilon where params.noise is 1 (Theorem 4.1)."""
    neighbour = event_probability(params, neighbour_sums, eliminated)
    return float(np.log(neighbour / event_probability(params, reward_sums, eliminated)))


def epsilon_lower_bound(
    events: int, trials: int, neighbour_events: int, neighbour_trials: int, confidence: float = 0.95
) -> float:
    """A lower bound on ln(Pr[event | neighbour] / Pr[event]), and so on the epsilon of any private mechanism.

    The lower end of the Clopper-Pearson interval of the neighbour's probability over the upper end of the other's.
    Each end errs with probability (1 - confidence) / 2, so that both hold with probability `confidence` (Bonferroni).
    -inf where the neighbour has no event.
    """
    low, _ = clopper_pearson(neighbour_events, neighbour_trials, confidence)
    _, high = clopper_pearson(events, trials, confidence)
    return float(np.log(low / high)) if low > 0 else float("-inf")
