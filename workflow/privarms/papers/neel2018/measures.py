"""Measures of this paper that no declared one covers; a function takes the results and the claim's arguments."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from privarms.claims.measures import choose
from privarms.claims.verdict import Measured
from privarms.inference import max_information
from privarms.inference.intervals import ratio
from privarms.studies.results import Results


def _row(frame: pd.DataFrame, **where) -> pd.Series:
    return choose(frame, where).iloc[0]


def published_quotient(results: Results, top: str, bottom: str, units: list[float]) -> Measured:
    """Return the quotient of two published numbers, with the ends that their rounding leaves.

    units : half a unit of the last printed digit of each
    """
    (a, b), (u, v) = (results.published(name) for name in (top, bottom)), units
    return Measured(a / b, note=f"{a:g} over {b:g}, both rounded.", low=(a - u) / (b + v), high=(a + u) / (b - v))


def loss_of_doublings(results: Results, epsilon: float, broken: float) -> Measured:
    """Return the privacy loss of the choices that reveal the nodes of a tree, over epsilon.

    broken : the multiple of the noise of a tree whose nodes do not share the budget. If the audit does not detect that
    tree, it has no power for the right one.
    """

    def loss(noise: float) -> Measured:
        where = {"variant": "as_printed", "epsilon": epsilon, "event": "doublings", "noise": noise}
        row = _row(results.inference("audit"), **where)
        value, low, high = (row[one] / row["epsilon"] for one in ("loss", "loss_low", "loss_high"))
        return Measured(value, math.nan, int(row["trials"]), "", low, high)

    measured, weakened = loss(1.0), loss(broken)
    low, high = weakened.interval
    broken_loss = f"A tree whose nodes do not share the budget loses {weakened.value:.2f} times epsilon"
    if not low > 1:
        note = f"{broken_loss}, which these trials cannot distinguish from 1: the audit has no power."
        return Measured(measured.value, math.nan, measured.replicates, note)
    return replace(measured, note=f"{broken_loss} ({low:.2f} to {high:.2f}), and is detected.")


def average_regret_fall(results: Results, variant: str) -> Measured:
    """Return the average regret at the horizon over that at about half of it, on mean curves."""
    curve = choose(results.cells("regret_2"), {"policy": "private_ucb", "variant": variant})
    end = _row(curve, t=curve["horizon"].iloc[0])
    half = curve[curve["t"] <= end["horizon"] / 2].iloc[-1]
    value, se = ratio(*(row[column] / row["t"] for row in (end, half) for column in ("regret_mean", "regret_se")))
    return Measured(float(value), float(se), int(end["replicates"]), f"From t = {half['t']:,} to {end['t']:,}.")


def uniform_regret(results: Results, variant: str) -> Measured:
    """Return private UCB's mean regret at the horizon of Experiment 1 over that of pulling every arm equally often."""
    curve = choose(results.cells("regret_1"), {"policy": "private_ucb", "variant": variant})
    row = _row(curve, t=curve["horizon"].iloc[0])
    even = row["horizon"] * (row["top"] - row["bottom"]) / 2
    output = Measured(row["regret_mean"] / even, row["regret_se"] / even, int(row["replicates"]))
    # No run's regret is below 0, or above that of always pulling the worst arm.
    return Measured.agreed(output.value, output.replicates, 0.0, 2.0) if output.agrees else output


def correction_scale(results: Results, horizons: list[int], alphas: list[float], beta: float | str) -> Measured:
    """Return the smallest gamma(alpha) / alpha at epsilon = 1/sqrt(T) over the largest.

    beta : of Corollary 2 as printed; "best": Theorem 3's gamma with its best beta at each alpha
    """
    T, alpha = np.array(horizons), np.array(alphas)
    scaled = _level(alpha, T**-0.5, T, beta) / alpha
    note = f"gamma(alpha) is between {scaled.min():.4f} and {scaled.max():.4f} alpha."
    return Measured(float(scaled.min() / scaled.max()), note=note)


def response_level(
    results: Results, horizon: int, epsilons: list[float], alphas: list[float], beta: float | str
) -> Measured:
    """Return the largest share of true nulls over alpha that the selector of `response_rejections` rejects.

    beta : as in `correction_scale`; "none": without a correction; "2k": Theorem 3 with its 2k as it is printed
    """
    epsilon, alpha = (x.ravel() for x in np.meshgrid(epsilons, alphas))
    level = alpha if beta == "none" else _level(alpha, epsilon, horizon, beta)
    # A level that underflows rejects nothing.
    level = np.maximum(level, np.finfo(float).tiny)
    over = max_information.response_rejections(level, epsilon, horizon) / alpha
    worst = int(over.argmax())
    share = f"{over[worst] * alpha[worst]:.3g} of true nulls at alpha = {alpha[worst]:g}"
    return Measured(float(over[worst]), note=f"{share}, epsilon = {epsilon[worst]:.3g}.")


def _level(alpha, epsilon, horizon, beta: float | str):
    if beta not in ("best", "2k"):
        return max_information.printed_level(alpha, epsilon, horizon, beta)
    best = max_information.best_beta(epsilon, horizon, alpha)
    if beta == "best":
        return max_information.corrected_level(alpha, epsilon, horizon, best)
    bits = max_information.max_information_nats(epsilon, horizon, best) / math.log(2)
    return (alpha - best) / (2 * bits)


def order_over(results: Results, horizons: list[int], arms: int, budget: str) -> Measured:
    """Return the largest of Theorem 2's order of the regret over sqrt(K T ln T), or its change over T; constants 1.

    budget : "tradeoff", epsilon = ln^1.5 T / sqrt(K T), over sqrt(K T ln T); "least", epsilon = ln^3 T / T, which is
        omega(ln^2 T / T): the order over T at the last horizon over that at the first
    """
    T = np.array(horizons, float)
    log, least = np.log(T), np.sqrt(arms * T * np.log(T))
    epsilon = log**1.5 / np.sqrt(arms * T) if budget == "tradeoff" else log**3 / T
    order = np.maximum(log / epsilon * (np.log(log) + np.log(1 / epsilon)), least)
    if budget == "tradeoff":
        return Measured(float((order / least).max()))
    first, last = (order / T)[[0, -1]]
    return Measured(float(last / first), note=f"Per round from {first:.3g} to {last:.3g}.")
