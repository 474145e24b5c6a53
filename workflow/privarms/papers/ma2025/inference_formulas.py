"""What the paper's formulas say, without any run: rows with a value or with whether a sentence is true."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from privarms.environments import exponential
from privarms.inference.rows import as_frame
from privarms.inference.transfer_rates import regret_rate
from privarms.jit.cache import compiled
from privarms.papers.ma2025._panels import DIMENSIONS
from privarms.papers.ma2025.inference_contrasts import EPSILONS, SIZES, SOURCES
from privarms.planning.results import Results
from privarms.protocols.locally_private import expected_rewards
from privarms.registry.artifacts import inference

# Grid points along an edge of the cube for approximation errors; a power of 2, so equal bins have equal numbers.
FINE = 4096
# The depth of the bins that are judged, and the arms of the published figures.
DEEPEST, ARMS = 12, 3
# Margin parameter of both environments: gaps close linearly.
BETA = 1.0
# Instances of formulas about epsilon up to 1; with 10 users and epsilon = .01, n epsilon^2 is .001.
BUDGETS, USERS = (0.01, 0.1, 0.5, 1.0), (10, 1_000, 10_000, 160_000)
GAMMAS, KAPPAS = (0.0, 0.2, 1.0, 2.0), (0.2, 0.6, 1.0)
REGIMES = ("n epsilon^2 above 1", "n epsilon^2 below 1")


@inference()
@as_frame
def rates(results: Results) -> Iterator[dict]:
    """Return quotients of the paper's rates, without their constants; each is below 1 if the text is right.

    One row per formula, axis and instance; `regime`: whether n epsilon^2 (kappa^2 n epsilon_m^2) is above 1

    (7) : at the next larger epsilon or beta, over that at the value before
    private (7) : the private term of (7) over the other one, which is at least 1 if the text is right
    sources of (23) : a source's term in (23) at the next smaller kappa, or larger gamma, over that at the value before
    (5), axis n : exponent of (5) in n between the ends of Figure 7; axis epsilon: its growth between the ends at the
        next larger epsilon, over that at an epsilon
    (22) : at the better end of an axis of Figure 8 over that at the other end, geometric mean over its grid; axis
        kappa: at kappa = 1 over that at 0, eps_m = 8, Figure 9(a)
    sources of (22) : the sources' terms over the target's term, eps_m = 1, kappa = 1, Figure 9(a)
    """
    for epsilon, n, d in itertools.product(BUDGETS, USERS, range(1, 5)):
        for axis, pairs in (("epsilon", [(epsilon, e) for e in BUDGETS if e > epsilon][:1]), ("beta", [(0.5, 1.0)])):
            for low, high in pairs:
                both = [_private_rate(n, e, d, b) for e, b in _along(axis, low, high, epsilon)]
                regime = REGIMES[n * epsilon**2 < 1]
                if n * epsilon**2 != 1:
                    yield {"formula": "(7)", "axis": axis, "regime": regime, "n": n, "epsilon": epsilon, "d": d,
                           "value": both[1] / both[0]}  # fmt: skip
        for beta in (b for b in (0.5, 1.0, 2.0, 4.0) if b <= d):
            value = _private_rate(n, epsilon, d, beta) / n ** (1 - (1 + beta) / (2 + d))
            yield {"formula": "private (7)", "n": n, "epsilon": epsilon, "d": d, "beta": beta, "value": value}
    for epsilon, n, kappa, gamma in itertools.product(BUDGETS, USERS, KAPPAS, GAMMAS):
        base = kappa**2 * n * epsilon**2
        about = {"formula": "sources of (23)", "regime": REGIMES[base < 1], "n": n, "epsilon": epsilon,
                 "kappa": kappa, "gamma": gamma}  # fmt: skip
        for axis, k, g in (("kappa", kappa / 2, gamma), ("gamma", kappa, gamma + 1)):
            if base != 1:
                value = _of_source(k, n, epsilon, g) / _of_source(kappa, n, epsilon, gamma)
                yield about | {"axis": axis, "value": value}
    yield from _of_figures()


def _along(axis: str, low: float, high: float, epsilon: float) -> list[tuple[float, float]]:
    return [(low, BETA), (high, BETA)] if axis == "epsilon" else [(epsilon, low), (epsilon, high)]


def _private_rate(n: float, epsilon: float, d: int, beta: float) -> float:
    return n * (n * epsilon**2) ** (-(1 + beta) / (2 + 2 * d))


def _of_source(kappa: float, n: float, epsilon: float, gamma: float) -> float:
    return (kappa**2 * n * epsilon**2) ** ((2 + 2 * DIMENSIONS) / (2 + 2 * DIMENSIONS + 2 * gamma))


def _of_figures() -> Iterator[dict]:
    first, last = SIZES["as_released"][0], SIZES["as_released"][-1]
    slopes = {}
    for epsilon in EPSILONS:
        low, high = (regret_rate(n, epsilon, ARMS, DIMENSIONS, BETA) for n in (first, last))
        slopes[epsilon] = high - low
        exponent = math.log(high / low) / math.log(last / first)
        yield {"formula": "(5)", "axis": "n", "epsilon": epsilon, "value": exponent}
    for epsilon, following in itertools.pairwise(EPSILONS):
        yield {"formula": "(5)", "axis": "epsilon", "epsilon": epsilon, "value": slopes[following] / slopes[epsilon]}
    grid = {"epsilon": (1, 2), "n_aux": SOURCES[2:], "epsilon_aux": (2, 4, 8, 1024), "gamma": (0, 0.2, 2)}
    better = {"n_aux": SOURCES[-1], "epsilon_aux": 1024, "gamma": 0}
    worse = {"n_aux": SOURCES[2], "epsilon_aux": 2, "gamma": 2}
    for axis in better:
        others = [dict(zip(grid, point, strict=True)) for point in itertools.product(*grid.values())]
        logs = [math.log(_rate(**one | {axis: better[axis]}) / _rate(**one | {axis: worse[axis]})) for one in others]
        yield {"formula": "(22)", "axis": axis, "value": math.exp(np.mean(logs))}
    for n_aux in SOURCES[2:]:
        setting = {"n": 40_000, "epsilon": 2, "n_aux": n_aux, "gamma": 0.2}
        ends = [_rate(epsilon_aux=8, kappa=kappa, **setting) for kappa in (0, 1)]
        yield {"formula": "(22)", "axis": "kappa", "n_aux": n_aux, "value": ends[1] / ends[0]}
        # The rate is n times a power of the sum of terms, and its logarithm is that of the larger data set.
        both, alone = (_rate(epsilon_aux=1, kappa=kappa, **setting) for kappa in (1, 0))
        value = (both / alone) ** (-(2 + 2 * DIMENSIONS) / (1 + BETA)) - 1
        yield {"formula": "sources of (22)", "axis": "n_aux", "n_aux": n_aux, "value": value}


def _rate(epsilon: float, n_aux: int, epsilon_aux: float, gamma: float, kappa: float = 1.0, n: int = 80_000) -> float:
    return regret_rate(n, epsilon, ARMS, DIMENSIONS, BETA, [(n_aux, epsilon_aux, gamma, kappa)] * 2)


@inference()
@as_frame
def formulas(results: Results) -> Iterator[dict]:
    """Return what the paper's formulas say, one row per formula and instance: `value`, or `holds`, whether it is true.

    diameter: of a bin over (17)'s tau_s; holds if it is 1
    approximation_error: largest distance of a reward from the mean of its bin over tau_s, by `arms`, for uniform
        contexts and Figure 4's reward functions, which only depend on the first coordinate
    density: the integral of c ||x - 1/2||_inf^2 over the square with the printed c = 2^-gamma d / (d + gamma)
    (4), (6): whether the display follows from (3), (5) for epsilon up to 1, with an absolute constant
    exponents: whether the denominators of the two rates differ by d
    weights: whether (27) is 1 as eps_m grows, by `count`, the noise-free number of a source's pulls of the arm there
    order: whether (26) is the same for every order of three data sets, given their sums
    sources: whether the behaviour policy has exploration coefficient kappa and the contexts transfer exponent gamma
    best_arm: whether arm 1 is the best at (1/3, 1/3)
    """
    # The mass between radii r and r + dr is d 2^d r^(d - 1) dr, so the power integrates to c again.
    value = (2**-2 * DIMENSIONS / (DIMENSIONS + 2)) ** 2
    yield {"formula": "density", "gamma": 2, "value": value, "holds": math.isclose(value, 1)}
    for s in range(DEEPEST + 1):
        yield {"formula": "diameter", "depth": str(s), **_diameter(s)}
    for K in (2, 3, 5, 10):
        for s in range(DEEPEST + 1):
            yield {"formula": "approximation_error", "arms": K, "depth": str(s), "value": _approximation_error(K, s)}
    yield from _special_cases()
    yield from _weights()
    yield {"formula": "order", "holds": _same_in_every_order()}
    for variant in ("as_printed", "as_released"):
        for kappa, gamma in itertools.product((0, 0.5, 1), (0, 0.2, 1, 2)):
            yield {"formula": "sources", "variant": variant, "kappa": kappa, "gamma": gamma,
                   "holds": _belongs(variant, kappa, gamma)}  # fmt: skip
        means = _rewards(variant, ARMS, np.full((1, DIMENSIONS), 1 / 3))[0]
        yield {"formula": "best_arm", "variant": variant, "holds": bool(means.argmax() == 0)}


def _edges(s: int) -> list[float]:
    # The longest edge is halved first, so edges differ by a factor of at most 2.
    return [2.0 ** -(s // DIMENSIONS + (k < s % DIMENSIONS)) for k in range(DIMENSIONS)]


def _tau(s: int) -> float:
    return 2 * math.sqrt(DIMENSIONS) * 2 ** (-s / DIMENSIONS)


def _diameter(s: int) -> dict:
    value = round(math.hypot(*_edges(s)) / _tau(s), 9)
    return {"value": value, "holds": value == 1}


def _rewards(variant: str, K: int, contexts: np.ndarray) -> np.ndarray:
    return compiled(expected_rewards)(exponential.configure(K, variant), np.ascontiguousarray(contexts))


def _approximation_error(K: int, s: int) -> float:
    x = (np.arange(FINE) + 0.5) / FINE
    means = _rewards("as_printed", K, np.column_stack([x] + [np.full_like(x, 0.5)] * (DIMENSIONS - 1)))
    # The worst cut leaves the first coordinate its longest edge.
    bins = means.reshape(-1, int(max(_edges(s)) * FINE), K)
    return float(np.abs(bins - bins.mean(axis=1, keepdims=True)).max()) / _tau(s)


def _special_cases() -> Iterator[dict]:
    for n, epsilon, d in itertools.product((2, *USERS), BUDGETS, range(1, 5)):
        plain = n ** ((2 + 2 * d) / (2 + d))
        # (3) is at least (4) with c' = c (e - 1)^(-2 (1 + beta) / (2 + 2 d)).
        holds = min(n * math.expm1(epsilon) ** 2, plain) <= (math.e - 1) ** 2 * n * epsilon**2 * (1 + 1e-12)
        yield {"formula": "(4)", "n": n, "epsilon": epsilon, "d": d, "holds": holds}
        for K in (2, 3, 10, 100):
            # (6) is (5) if its first term is the smaller one.
            first, second = n * epsilon**2 / (K**2 * math.log(n)), (n / (K * math.log(n))) ** ((2 + 2 * d) / (2 + d))
            yield {"formula": "(6)", "n": n, "epsilon": epsilon, "d": d, "K": K, "holds": first <= second}
    for d in range(1, 9):
        yield {"formula": "exponents", "d": d, "holds": (2 + 2 * d) - (2 + d) == d}


def _weights() -> Iterator[dict]:
    n = 10_000
    for t, count in itertools.product((math.ceil(math.log(n) ** 2), 1_000, n), (0, 1, 10)):
        # From some budget on the weight no longer changes.
        weight = min(abs(1e12 / t * count), 1.0 if t >= math.log(n) ** 2 else 0.0)
        yield {"formula": "weights", "count": "above 0" if count else "0", "t": t, "holds": weight == 1}


def _estimate(sets: Sequence[tuple[float, float, float, float]]) -> float:
    """Return (26) for one arm and bin from (V, U, t, epsilon) of each data set, all past their warm-up."""
    weights = [min(abs(epsilon**2 / t * u), 1) for _, u, t, epsilon in sets]
    top = math.fsum(w * s[0] for w, s in zip(weights, sets, strict=True))
    return top / math.fsum(w * s[1] for w, s in zip(weights, sets, strict=True))


def _same_in_every_order(estimate: Callable = _estimate) -> bool:
    sets = [(41.0, 90.0, 400.0, 1.0), (12.5, 20.0, 900.0, 0.5), (300.0, 610.0, 2_000.0, 8.0)]
    return all(math.isclose(estimate(order), estimate(sets)) for order in itertools.permutations(sets))


def _belongs(variant: str, kappa: float, gamma: float) -> bool:
    """Return whether the sources have kappa and gamma: K times the smallest probability, and the exponent at 1/2."""
    probabilities = kappa / ARMS + (2 - 2 * kappa) / (ARMS * (ARMS - 1)) * np.arange(ARMS)
    # The ball of radius r around the centre has mass proportional to r^(d + gamma), as released to r^(d (1 + gamma)).
    exponent = gamma if variant == "as_printed" else DIMENSIONS * gamma
    right = math.isclose(probabilities.sum(), 1) and math.isclose(ARMS * probabilities.min(), kappa, abs_tol=1e-12)
    return right and exponent == gamma
