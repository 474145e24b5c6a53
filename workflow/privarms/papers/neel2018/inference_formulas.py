"""Inference tables of formulas and enumerated instances, which no study enters."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.inference import max_information
from privarms.inference.rows import as_frame
from privarms.papers.neel2018 import _enumerated
from privarms.planning.results import Results
from privarms.registry.artifacts import inference

# Of Experiment 1; its epsilon 1/sqrt(T) is .0447.
HORIZON = 500
BUDGETS = (0.01, 0.02, HORIZON**-0.5, 0.05, 0.1, 0.2, 0.5, 1.0)
LEVELS = (0.05, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
HORIZONS = (10**3, 10**6, 10**12, 10**100)
# Corollary 2 fixes beta before alpha; 1 is the largest probability.
BETAS = (0.05, 0.999999999)


@inference()
def theorem_4(results: Results) -> pd.DataFrame:
    """Return instances of Theorem 4; see `_enumerated.max_informations`."""
    return _enumerated.max_informations()


@inference()
def claim_1(results: Results) -> pd.DataFrame:
    """Return instances of Claim 1; see `_enumerated.interactions`."""
    return _enumerated.interactions()


def _nats(epsilon, horizon, beta, logarithm: str = "natural"):
    """Return Theorem 4's bound in nats, with the natural or the binary logarithm of 2/beta."""
    base = math.log(2) if logarithm == "binary" else 1.0
    return epsilon**2 * horizon / 2 + epsilon * np.sqrt(horizon * np.log(2 / beta) / base / 2)


def _corrections(alpha: float, epsilon: float, horizon: int) -> Iterator[dict]:
    """Yield the level that a p-value is compared with: without a correction, by Theorem 3 and by Corollary 2.

    Theorem 3 has its best beta, with 2k as printed or 2^k in the denominator, k in bits.
    """
    best = float(max_information.best_beta(epsilon, horizon, alpha))
    bits = float(_nats(epsilon, horizon, best)) / math.log(2)
    yield {"correction": "none", "level": alpha}
    yield {"correction": "theorem_3", "denominator": "2k", "beta": best, "level": (alpha - best) / (2 * bits)}
    yield {"correction": "theorem_3", "denominator": "2^k", "beta": best, "level": (alpha - best) * 2**-bits}
    for beta, logarithm in itertools.product(BETAS, ("natural", "binary")):
        level = alpha * math.exp(-_nats(epsilon, horizon, beta, logarithm))
        yield {"correction": "corollary_2", "beta": beta, "logarithm": logarithm, "level": level}


@inference()
@as_frame
def corrections(results: Results) -> Iterator[dict]:
    """Return the share of true nulls over alpha that a selector rejects, by correction, epsilon and alpha; T = 500.

    The selector and its exact share: `max_information.response_rejections`. over_alpha: the share over alpha
    """
    for epsilon, alpha in itertools.product(BUDGETS, LEVELS):
        for row in _corrections(alpha, epsilon, HORIZON):
            # A level that underflows rejects nothing.
            level = min(max(row["level"], np.finfo(float).tiny), np.nextafter(1, 0))
            share = float(max_information.response_rejections(level, epsilon, HORIZON))
            order = "1/sqrt(T)" if epsilon == HORIZON**-0.5 else "other"
            yield {"epsilon": epsilon, "order": order, "alpha": alpha, **row, "over_alpha": share / alpha}


@inference()
@as_frame
def scales(results: Results) -> Iterator[dict]:
    """Return whether a correction at epsilon = 1/sqrt(T) divides every alpha, at every T, by one number."""
    rows = [
        row | {"scale": row["level"] / alpha}
        for horizon in (100, 1_000, 10**4, 10**6)
        for alpha in (0.1, *LEVELS)
        for row in _corrections(alpha, horizon**-0.5, horizon)
        if row.get("denominator") != "2k" and row["correction"] != "none"
    ]
    frame = pd.DataFrame(rows).assign(beta=lambda f: f["beta"].where(f["correction"] == "corollary_2"))
    for (correction, beta, logarithm), some in frame.groupby(["correction", "beta", "logarithm"], dropna=False):
        smallest, largest = some["scale"].min(), some["scale"].max()
        setting = {"correction": correction, "beta": beta, "logarithm": logarithm}
        # Equal up to rounding of the exponential.
        yield setting | {"smallest": smallest, "largest": largest, "constant": smallest >= largest * (1 - 1e-12)}


@inference()
@as_frame
def orders(results: Results) -> Iterator[dict]:
    """Return quotients and exponents of the orders that the paper prints, with constants 1; k = 5.

    tradeoff: Theorem 2's order at epsilon = ln^1.5 T / sqrt(kT), over sqrt(kT ln T), by T
    least: the exponent p of Theorem 2's order like T^p, from the first to the last T, for budgets above ln^2 T / T
    polylog: the bound e^epsilon - 1 at epsilon = ln^3 T / T, over ln^3 T / T, by T
    introduction: Corollary 1's order ln^1.5 T / sqrt(kT) of the bias, over the introduction's 1 / sqrt(kT), by T
    """
    k, log = 5, np.log(np.array(HORIZONS, dtype=float))
    T = np.exp(log)
    least = np.sqrt(k * T * log)

    def regret(epsilon):
        return np.maximum(log / epsilon * (np.log(log) + np.log(1 / epsilon)), least)

    by_horizon = {
        "tradeoff": regret(log**1.5 / np.sqrt(k * T)) / least,
        "polylog": np.expm1(log**3 / T) / (log**3 / T),
        "introduction": log**1.5,
    }
    for quantity, values in by_horizon.items():
        for horizon, value in zip(HORIZONS, values, strict=True):
            yield {"quantity": quantity, "horizon": float(horizon), "value": value}
    for budget, factor in (("ln^3 T / T", log), ("ln^2 T ln ln T / T", np.log(log))):
        order = regret(log**2 * factor / T)
        # From T = 10^6 on, since the order is above T at shorter horizons.
        yield {
            "quantity": "least",
            "budget": budget,
            "value": np.diff(np.log(order[[1, -1]]))[0] / np.diff(log[[1, -1]])[0],
        }


@inference()
@as_frame
def printed_statistic(results: Results) -> Iterator[dict]:
    """Return mean and standard deviation under the null of Section 4's statistic for an arm with N pulls, mean mu.

    Its sum is over y, minus mu once, or over y - mu; the rewards are 0 or 1, and the pulls do not depend on them.
    standard: whether the mean is 0 and the standard deviation 1, as those of a standardised statistic
    """
    for pulls, mu in itertools.product((10, 100), (0.1, 0.5, 0.9)):
        for parentheses, centre in (("sum of y, minus mu", mu), ("sum of y - mu", pulls * mu)):
            mean, deviation = (pulls * mu - centre) / math.sqrt(pulls), math.sqrt(mu * (1 - mu))
            row = {"pulls": pulls, "mu": mu, "parentheses": parentheses, "null_mean": mean, "deviation": deviation}
            yield row | {"standard": math.isclose(mean, 0, abs_tol=1e-12) and math.isclose(deviation, 1)}
