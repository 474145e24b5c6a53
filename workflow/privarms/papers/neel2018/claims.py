"""How each claim's value is measured; a function takes the results and the claim's arguments.

The cells on which a claim rests are those that claims.yaml names; of them a measure reads the rows of its arguments.
`variant` "" is that of a policy without variants. An average of absolute values grows with the noise of what it
averages: where a paper prints one over so many runs, ours is what it is expected to be over as many.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from privarms.claims.ledger import FAR
from privarms.claims.verdict import CONFIDENCE, ROUNDING, Measured, quantile
from privarms.errors import NoCellsError
from privarms.inference import max_information
from privarms.inference.bias import stopping_bias, tradeoff_regret_order, underestimate_bound
from privarms.papers.neel2018._settings import LEVEL, printed, together
from privarms.plots.curves import ratio
from privarms.plots.registry import functions_of
from privarms.studies.results import Results

LADDER = "1.00-0.05"


def _rows(frame: pd.DataFrame, **wanted) -> pd.DataFrame:
    """The rows with these values, "" standing for none; NoCellsError where there is no such row."""
    chosen = pd.Series(True, frame.index)
    for column, value in wanted.items():
        chosen &= frame[column].isna() if value == "" else frame[column] == value
    if not chosen.any():
        named = "; ".join(f"{k} {v}" for k, v in wanted.items() if v != "")
        raise NoCellsError(f"none of the cells on which the claim rests is in this run: {named}")
    return frame[chosen]


def _row(frame: pd.DataFrame, **wanted) -> pd.Series:
    return _rows(frame, **wanted).iloc[0]


def _average(results: Results, experiment: str, policy: str, variant: str, ladder: str = LADDER) -> pd.Series:
    rows = results.inference(f"average_bias_experiment_{experiment}")
    return _row(rows, policy=policy, variant=variant, ladder=ladder, size="all")


def _arms(results: Results, experiment: str, policy: str, variant: str, ladder: str = LADDER) -> pd.DataFrame:
    """The rows of the arms whose sample mean is random, over all replicates; one of mean 1 has no bias whatever is
    done."""
    rows = results.inference(f"bias_experiment_{experiment}")
    rows = _rows(rows, policy=policy, variant=variant, ladder=ladder, size="all")
    return rows[rows["se"] > 0]


def average_bias(results: Results, experiment: str, policy: str, variant: str = "", ladder: str = LADDER) -> Measured:
    """What the average over arms of |bias| is expected to be over as many runs as published."""
    row = _average(results, experiment, policy, variant, ladder)
    note = (
        f"Expected over as many runs as published, where such an average scatters by {row['spread']:.2g}; over all "
        f"{row['replicates']:,} it is {row['average']:.3g}, of which noise alone would make "
        f"{row['average_if_unbiased']:.2g}."
    )
    return Measured(row["expected"], row["expected_se"], int(row["replicates"]), note)


def worst_bias(results: Results, experiment: str, policy: str, variant: str = "") -> Measured:
    """The largest |bias| of an arm."""
    rows = _arms(results, experiment, policy, variant)
    parts = [
        Measured(abs(b), s, int(n), f"Arm {a}.")
        for a, b, s, n in zip(rows["arm"], rows["bias"], rows["se"], rows["replicates"], strict=True)
    ]
    return Measured.largest(parts)


def largest_signed_bias(results: Results, experiment: str, policy: str, variant: str = "") -> Measured:
    """The largest bias of an arm, with its sign: below 0 where all means are underestimated."""
    rows = _arms(results, experiment, policy, variant)
    parts = [
        Measured(b, s, int(n), f"Arm {a}; {len(rows)} arms, without those whose sample mean is never wrong.")
        for a, b, s, n in zip(rows["arm"], rows["bias"], rows["se"], rows["replicates"], strict=True)
    ]
    return Measured.largest(parts)


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


def bias_reduction(results: Results, experiment: str, variant: str, ladder: str = LADDER) -> Measured:
    """UCB's average |bias| over private UCB's, each as expected over as many runs as published."""
    plain = _average(results, experiment, "ucb", "", ladder)
    private = _average(results, experiment, "private_ucb", variant, ladder)
    value, se = ratio(plain["expected"], plain["expected_se"], private["expected"], private["expected_se"])
    replicates = int(min(plain["replicates"], private["replicates"]))
    return Measured(float(value), float(se), replicates, f"{plain['expected']:.3g} over {private['expected']:.3g}.")


def last_arm_reduction(results: Results, variant: str) -> Measured:
    """The bias of the arm with the smallest mean in Experiment 2, UCB's over private UCB's."""
    plain = _average(results, "2", "ucb", "")
    private = _average(results, "2", "private_ucb", variant)
    value, se = ratio(plain["last"], plain["last_se"], private["last"], private["last_se"])
    replicates = int(min(plain["replicates"], private["replicates"]))
    return Measured(float(value), abs(float(se)), replicates, f"{plain['last']:.3g} over {private['last']:.3g}.")


def _in_published_errors(results: Results, experiment: str, policy: str, variant: str) -> tuple[pd.Series, list]:
    """Each arm and its |bias| in standard errors of as many runs as published: below 1.96 these runs would rather miss
    it than find it at 95%."""
    runs = int(printed(results)["replicates"][experiment])
    rows = _arms(results, experiment, policy, variant)
    parts = []
    for b, s, n, mean in zip(rows["bias"], rows["se"], rows["replicates"], rows["mean"], strict=True):
        share = math.sqrt(runs / n)
        parts.append(Measured(abs(b) / s * share, share, int(n), f"The arm of mean {mean:.2f}, over {runs:,} runs."))
    return rows["arm"], parts


def largest_in_published_errors(
    results: Results, experiment: str, policy: str, variant: str = "", last_arm: int | None = None
) -> Measured:
    """The largest |bias| of an arm in standard errors of as many runs as published; of the arms up to `last_arm`."""
    arms, parts = _in_published_errors(results, experiment, policy, variant)
    return Measured.largest([p for a, p in zip(arms, parts, strict=True) if last_arm is None or a <= last_arm])


def smallest_in_published_errors(results: Results, experiment: str, policy: str, first_arm: int) -> Measured:
    """The smallest |bias| of an arm in standard errors of as many runs as published; of the arms from `first_arm`."""
    arms, parts = _in_published_errors(results, experiment, policy, "")
    return Measured.smallest([p for a, p in zip(arms, parts, strict=True) if a >= first_arm])


def adaptive_fraction(results: Results, variant: str) -> Measured:
    """The fraction of Experiment 1's runs of private UCB in which the arms' pulls at T are not even."""
    row = _row(results.inference("round_robin"), policy="private_ucb", variant=variant)
    runs = int(row["replicates"])
    note = f"Every arm has {row['horizon'] // row['K']} pulls in {row['fraction']:.4%} of the runs."
    return Measured.fraction(runs - round(row["fraction"] * runs), runs, note)


def theorem_1(results: Results, policy: str, studies: list[str], form: str = "printed") -> Measured:
    """The largest share of Theorem 1's bound that an arm's bias takes, over the cells of a policy with a tree.

    form: printed, |bias| over (e^eps - 1) mu; proof, the underestimation over (1 - e^-eps) mu
    """
    rows = together(results, "bias", studies)
    # An arm of mean 0 or 1 has no bias whatever is done.
    rows = _rows(rows[rows["se"] > 0], policy=policy, variant="as_printed", size="all")
    bound, bias = rows["bound"], rows["bias"].abs()
    if form == "proof":
        bound, bias = underestimate_bound(rows["epsilon"].to_numpy(), rows["mean"].to_numpy()), -rows["bias"]
    cells = rows.groupby(["experiment", "epsilon", "horizon"]).ngroups
    parts = [
        Measured(share, error, int(n), f"Over {len(rows)} arms in {cells} cells; at epsilon = {e:g}, mean {mean:.2f}.")
        for share, error, n, e, mean in zip(
            bias / bound, rows["se"] / bound, rows["replicates"], rows["epsilon"], rows["mean"], strict=True
        )
    ]
    found = Measured.largest(parts)
    _, high = found.interval
    # A larger factor the ledger says.
    if not 1 / FAR < high < 1:
        return found
    return replace(found, note=f"{found.note} As far as these runs tell the bound holds by a factor of {1 / high:.2g}.")


def theorem_1_attained(results: Results, epsilon: float, mu: float, horizon: int) -> Measured:
    """The underestimation of an arm over (1 - e^-eps) mu for the private policy of `stopping_bias`; no simulation."""
    share = -stopping_bias(epsilon, mu, horizon) / underestimate_bound(epsilon, mu)
    note = f"A policy whose one private answer about the first reward decides all: mean {mu:g}, epsilon = {epsilon:g}."
    return Measured(float(share), note=note)


def _audit(results: Results, **wanted) -> tuple[pd.Series, Measured]:
    """A row of the audit, and the privacy loss of its event over the claimed epsilon."""
    row = _row(results.inference("audit"), **wanted)
    ends = (row[end] / row["epsilon"] for end in ("loss_low", "loss_high"))
    return row, Measured(row["loss"] / row["epsilon"], math.nan, int(row["trials"]), "", *ends)


def loss_of_last_choice(results: Results, variant: str, epsilon: float) -> Measured:
    """The privacy loss of the last choice over epsilon."""
    row, found = _audit(results, variant=variant, epsilon=epsilon, event="", noise="")
    note = f"Two streams that differ in one reward; choice {row['horizon']}, claimed epsilon = {row['epsilon']:g}."
    if math.isfinite(row["exact"]):
        note += f" The loss of this one choice is exactly {row['exact']:.3f}."
    return Measured(found.value, found.se, found.replicates, note, found.low, found.high)


def loss_of_doublings(results: Results, epsilon: float, broken: float) -> Measured:
    """The privacy loss of the choices in which the nodes of a tree show, over epsilon.

    broken: the multiple of the noise that makes a tree which does not share its budget. If this audit does not catch
    it, nothing is known of the right one.
    """
    _, found = _audit(results, variant="as_printed", epsilon=epsilon, event="doublings", noise=1.0)
    _, twin = _audit(results, variant="as_printed", epsilon=epsilon, event="doublings", noise=broken)
    said = f"On the same event a tree whose nodes do not share the budget loses {twin.value:.2f} times epsilon"
    if not twin.interval[0] > 1:
        note = f"{said}, which so many trials cannot tell from 1: the audit has no power."
        return Measured(found.value, math.nan, found.replicates, note)
    low, high = twin.interval
    note = f"{said} ({low:.2f} to {high:.2f}), and is caught."
    return Measured(found.value, math.nan, found.replicates, note, *found.interval)


def corollary_1_regret(results: Results, policy: str) -> Measured:
    """Regret over sqrt(K T ln T) at the longest horizon, over the same at the shortest."""
    rows = _rows(results.inference("average_bias_corollary_1"), policy=policy, size="all").sort_values("horizon")
    order = tradeoff_regret_order(rows["K"].to_numpy(), rows["horizon"].to_numpy())
    scaled, errors = rows["regret"].to_numpy() / order, rows["regret_se"].to_numpy() / order
    value, se = ratio(scaled[-1], errors[-1], scaled[0], errors[0])
    steps = ", ".join(f"{s:.2f} at T = {T:,}" for s, T in zip(scaled, rows["horizon"], strict=True))
    return Measured(float(value), float(se), int(rows["replicates"].min()), f"Regret over the order: {steps}.")


def _ends(cells: pd.DataFrame) -> pd.DataFrame:
    return cells[cells["t"] == cells["horizon"]]


def regret_ratio(results: Results, variant: str) -> Measured:
    """Private UCB's mean regret at the horizon of Experiment 2 over UCB's."""
    ends = _ends(results.cells("regret_2"))
    plain, private = _row(ends, policy="ucb"), _row(ends, policy="private_ucb", variant=variant)
    value, se = ratio(private["regret_mean"], private["regret_se"], plain["regret_mean"], plain["regret_se"])
    note = f"{private['regret_mean']:.0f} over {plain['regret_mean']:.0f}."
    return Measured(float(value), float(se), int(private["replicates"]), note)


def average_regret_fall(results: Results, variant: str) -> Measured:
    """Average regret at the horizon over that at about half of it, on mean curves."""
    curve = _rows(results.cells("regret_2"), policy="private_ucb", variant=variant)
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


def rejection_rate(
    results: Results, policy: str, standard_error: str, coordinate: str, estimator: str = "ols"
) -> Measured:
    """The share of p-values at or below .05."""
    rows = _rows(results.inference("rejections"), standard_error=standard_error, coordinate=coordinate)
    row = _row(rows, policy=policy, estimator=estimator)
    random = _row(rows, policy="uniform")
    note = (
        f"Kolmogorov-Smirnov distance to uniform {row['ks']:.3f}. With arms chosen at random, without any adaptivity, "
        f"the same score rejects {random['rejection_rate']:.1%}."
    )
    runs = int(row["replicates"])
    return Measured.fraction(round(row["rejection_rate"] * runs), runs, note)


def uniformity(results: Results, policy: str) -> Measured:
    """The Kolmogorov-Smirnov distance between the law of the correct z-test's p-values and the uniform one, zero
    coordinate; its interval is that of Dvoretzky, Kiefer, Wolfowitz and Massart."""
    rows = results.inference("rejections")
    row = _row(rows, policy=policy, standard_error="correct", coordinate="zero", estimator="ols")
    note = f"{row['rejection_rate']:.2%} of the p-values are at or below .05."
    runs = int(row["replicates"])
    reach = math.sqrt(math.log(2 / (1 - CONFIDENCE)) / (2 * runs))
    return Measured(row["ks"], math.nan, runs, note, max(0.0, row["ks"] - reach), min(1.0, row["ks"] + reach))


def selection_bias(results: Results, policy: str) -> Measured:
    """The mean signed error of the most-pulled arm's largest coefficient, up being away from 0."""
    row = _row(results.inference("selection"), policy=policy, estimator="ols", coordinate="largest")
    note = f"On a standard error of {row['standard_error']:.3f} in a single run."
    return Measured(row["bias"], row["se"], int(row["replicates"]), note)


def largest_false_discovery(results: Results, correction: str) -> Measured:
    """The largest share of tests that reject a true null at .05 over private cells, under a correction (corrected,
    printed, printed_at_1, released).

    A test of an arm of mean 0 or 1 tests nothing: it counts as one that does not reject.
    """
    rows = results.inference("false_discovery")
    rows = rows[rows["epsilon"].notna() & (rows["replicates"] > 0)]
    parts = []
    for _, row in rows.iterrows():
        note = (
            f"Of {len(rows)} cells at epsilon = {row['epsilon']:.3g}, {row['policy']}, ladder {row['ladder']}, "
            f"{row['selector']}; naively {row['naive']:.3f} there and up to {rows['naive'].max():.3f} elsewhere."
        )
        events = round(row[correction] * row["replicates"])
        parts.append(Measured.fraction(events, int(row["tests"]), note, together=len(rows)))
    return Measured.largest(parts)


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
    named = {"experiment": experiment, "law": law, "ladder": ladder, "delta": delta}
    return _row(rows, policy=policy, variant=variant, **named)


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
