"""Measures of this paper that no declared one covers; a function takes the results and the claim's arguments.

`variant` "" is that of a policy without variants. An average of absolute values grows with the noise of what it
averages: where a paper prints one over so many runs, ours is what it is expected to be over as many.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from privarms.claims.measures import choose
from privarms.claims.verdict import ROUNDING, Measured, quantile
from privarms.inference import max_information
from privarms.inference.bias import stopping_bias, underestimate_bound
from privarms.papers.neel2018._settings import LEVEL
from privarms.plots.curves import ratio
from privarms.plots.registry import functions_of
from privarms.studies.results import Results

LADDER = "1.00-0.05"


def _row(frame: pd.DataFrame, **where) -> pd.Series:
    return choose(frame, where).iloc[0]


def _average(results: Results, experiment: str, policy: str, variant: str, ladder: str = LADDER) -> pd.Series:
    rows = results.inference(f"average_bias_experiment_{experiment}")
    return _row(rows, policy=policy, variant=variant, ladder=ladder, size="all")


def private_share(results: Results, variant: str) -> Measured:
    """Private UCB's average |bias| over UCB's in Experiment 1.

    A run in which all arms have T / K pulls shows each arm's first T / K rewards, whose mean is unbiased: no arm's
    |bias| exceeds the probability of another run, to which Clopper and Pearson's interval applies.
    """
    plain = _average(results, "1", "ucb", "")
    row = _row(results.inference("round_robin"), policy="private_ucb", variant=variant)
    runs = int(row["replicates"])
    uneven = Measured.fraction(runs - round(row["fraction"] * runs), runs, together=2)
    half = quantile(int(plain["replicates"]), 2) * plain["average_se"]
    note = (
        f"Every arm has {row['horizon'] // row['K']} pulls in {row['fraction']:.4%} of the runs, whatever the rewards: "
        f"its bias is at most {uneven.interval[1]:.1g}, and 0 so far as can be seen, where UCB's average is "
        f"{plain['average']:.3g}."
    )
    high = uneven.interval[1] / (plain["average"] - half)
    return Measured(uneven.value / plain["average"], 0.0, runs, note, 0.0, high)


def theorem_1_attained(results: Results, epsilon: float, mu: float, horizon: int) -> Measured:
    """The underestimation of an arm over (1 - e^-eps) mu for the private policy of `stopping_bias`; no simulation."""
    share = -stopping_bias(epsilon, mu, horizon) / underestimate_bound(epsilon, mu)
    note = f"A policy whose one private answer about the first reward decides all: mean {mu:g}, epsilon = {epsilon:g}."
    return Measured(float(share), note=note)


def loss_of_doublings(results: Results, epsilon: float, broken: float) -> Measured:
    """The privacy loss of the choices in which the nodes of a tree show, over epsilon.

    broken: the multiple of the noise that makes a tree which does not share its budget. If this audit does not catch
    it, nothing is known of the right one.
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
        note = f"{broken_loss}, which so many trials cannot tell from 1: the audit has no power."
        return Measured(measured.value, math.nan, measured.replicates, note)
    return replace(measured, note=f"{broken_loss} ({low:.2f} to {high:.2f}), and is caught.")


def _ends(cells: pd.DataFrame) -> pd.DataFrame:
    return cells[cells["t"] == cells["horizon"]]


def average_regret_fall(results: Results, variant: str) -> Measured:
    """Average regret at the horizon over that at about half of it, on mean curves."""
    curve = choose(results.cells("regret_2"), {"policy": "private_ucb", "variant": variant})
    end = _ends(curve).iloc[0]
    half = curve[curve["t"] <= end["horizon"] / 2].iloc[-1]
    pairs = [(row["regret_mean"] / row["t"], row["regret_se"] / row["t"]) for row in (end, half)]
    value, se = ratio(*pairs[0], *pairs[1])
    return Measured(float(value), float(se), int(end["replicates"]), f"From t = {half['t']:,} to {end['t']:,}.")


def uniform_regret(results: Results, variant: str) -> Measured:
    """Private UCB's mean regret at the horizon of Experiment 1 over that of pulling every arm equally often."""
    row = _row(_ends(results.cells("regret_1")), policy="private_ucb", variant=variant)
    even = row["horizon"] * (row["top"] - row["bottom"]) / 2
    found = Measured(row["regret_mean"] / even, row["regret_se"] / even, int(row["replicates"]))
    if found.se > ROUNDING * found.value:
        return found
    # Runs that all agree say no more than how rarely one may have another regret, of 0 or of twice this one at most.
    other = Measured.fraction(0, found.replicates).high
    return replace(found, low=found.value - other, high=found.value + other)


def correction_constant(results: Results) -> Measured:
    """gamma(.05) / .05 at epsilon = 1/sqrt(T), the smallest over T from 100 to 10^6, over the largest."""
    horizons = np.array([100, 1_000, 10_000, 100_000, 1_000_000])
    epsilons = horizons**-0.5
    beta = max_information.best_beta(epsilons, horizons, LEVEL)
    scaled = max_information.corrected_level(LEVEL, epsilons, horizons, beta) / LEVEL
    return Measured(float(scaled.min() / scaled.max()), note=f"gamma(.05) is {scaled.min():.4f} times .05 at every T.")


def correction_over_alpha(results: Results) -> Measured:
    """gamma(alpha) / alpha at epsilon = 1/sqrt(T), T = 500: smallest over largest for alpha from 10^-6 to .1."""
    alphas, T = np.array([0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-5, 1e-6]), 500
    beta = max_information.best_beta(T**-0.5, T, alphas)
    scaled = max_information.corrected_level(alphas, T**-0.5, T, beta) / alphas
    note = f"gamma(alpha) is {scaled[0]:.3f} alpha at alpha = .1 and {scaled[-1]:.3f} alpha at 10^-6."
    return Measured(float(scaled.min() / scaled.max()), note=note)


def ladder_fit(results: Results, ladder: str) -> Measured:
    """How far the published pair of Experiment 2 is from what a ladder is expected to give, in standard deviations of
    an average over as many runs: the larger of the two distances, private UCB's in the nearer variant."""
    found = []
    for policy, variant, number in (
        ("ucb", "", "experiment_2_ucb_bias"),
        ("private_ucb", "as_printed", "experiment_2_private_bias"),
        ("private_ucb", "as_released", "experiment_2_private_bias"),
    ):
        row = _average(results, "2", policy, variant, ladder)
        distance, error = (
            (row["expected"] - results.published(number)) / row["spread"],
            row["expected_se"] / row["spread"],
        )
        half, n = quantile(int(row["replicates"]), 3) * error, int(row["replicates"])
        note = f"{distance:+.1f}"
        found.append(Measured(abs(distance), error, n, note, abs(distance) - half, abs(distance) + half))
    ucb, printed_one, released = found
    note = f"UCB {ucb.note}; private UCB {printed_one.note} as printed, {released.note} as released."
    return Measured.largest([ucb, Measured.smallest([printed_one, released])], note)


def _setting(
    results: Results, experiment: str, policy: str, law: str, ladder: str, delta: float | str, variant: str
) -> pd.Series:
    rows = results.inference("published_settings")
    where = {"experiment": experiment, "law": law, "ladder": ladder, "delta": delta}
    return _row(rows, policy=policy, variant=variant, **where)


def setting_fit(
    results: Results, experiment: str, kind: str, law: str, ladder: str, units: list[float], delta: float | str = ""
) -> Measured:
    """How far the three published numbers of an experiment are from what a setting of `published_settings` is expected
    to give, in standard deviations of such a number over as many runs: the largest of the distances.

    Experiment 1: UCB's average |bias|, its worst arm, private UCB's average; Experiment 2: both averages and their
    ratio. kind: what the names of both policies end in; units: half a unit of each number's last digit, which is no
    distance
    """
    plain = _setting(results, experiment, f"ucb{kind}", law, ladder, delta, "")
    private = _setting(results, experiment, f"private_ucb{kind}", law, ladder, delta, "as_released")
    n = int(min(plain["replicates"], private["replicates"]))
    averages = {
        "ucb_bias": (plain["expected"], plain["expected_se"], plain["spread"]),
        "private_bias": (private["expected"], private["expected_se"], private["spread"]),
    }
    if experiment == "1":
        as_many = math.sqrt(plain["replicates"] / plain["runs"])
        third = {"worst_bias": (abs(plain["worst"]), plain["worst_se"], plain["worst_se"] * as_many)}
    else:
        pair = averages.values()
        value, error, spread = (
            *ratio(*(x for one in pair for x in one[:2])),
            ratio(*(x for one in pair for x in one[::2]))[1],
        )
        third = {"times": (float(value), float(error), float(spread))}
    found = []
    for (number, (value, error, spread)), unit in zip((averages | third).items(), units, strict=True):
        distance = value - results.published(f"experiment_{experiment}_{number}")
        beyond, half = max(abs(distance) - unit, 0.0) / spread, quantile(n, len(units)) * error / spread
        note = f"{number.replace('_', ' ')} {value:.3g}, {math.copysign(beyond, distance):+.1f}"
        found.append(Measured(beyond, error / spread, n, note, beyond - half, beyond + half))
    return Measured.largest(found, "; ".join(part.note for part in found) + ".")


MEASURES = functions_of(__name__)
