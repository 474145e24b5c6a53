"""Claims about what the formulas of the paper give; nothing is simulated."""

import math

from privarms.claims.verdict import Measured
from privarms.studies.results import Results


def exact_bias(results: Results, epsilon: float = 0) -> Measured:
    """The relative bias of the estimate, of one feature, furthest from 0 over the cells.

    epsilon: of DP-ConSE, 0 for ConSE
    """
    rows = results.inference("formulas")
    rows = rows[rows["formula"] == "relative_bias"]
    rows = rows[rows["epsilon"] == epsilon if epsilon else rows["epsilon"].isna()]
    worst = rows.loc[rows["value"].idxmin()]
    note = f"-E[2^-T_j], at n = {worst['n']:,}, alpha = {worst['alpha']:g}, T_min = {worst['T_min']:.1f}."
    return Measured(float(worst["value"]), note=note)


def trial_event(results: Results) -> Measured:
    """The largest probability that T_j < T_min / 2, over 1/n^2, over the cells of one feature."""
    rows = results.inference("formulas")
    rows = rows[rows["formula"] == "trial_event"]
    misses = (1 - rows["value"]) * rows["n"] ** 2
    worst = rows.loc[misses.idxmax()]
    note = (
        f"{1 - worst['value']:.3g} at n = {worst['n']:,}, epsilon = {worst['epsilon']:g}, T_min = {worst['T_min']:.0f}."
    )
    return Measured(float(misses.max()), note=note)


def _value(results: Results, formula: str, reading: str = "printed", n: int | None = None) -> float:
    rows = results.inference("formulas")
    chosen = (rows["formula"] == formula) & (rows["reading"] == reading)
    return float(rows.loc[chosen if n is None else chosen & (rows["n"] == n), "value"].item())


def lap_plus_sum(results: Results, epsilon: float, m: int) -> Measured:
    """What Lap+'s printed probabilities add up to."""
    rows = results.inference("lap_plus")
    row = rows[(rows["epsilon"] == epsilon) & (rows["m"] == m)].iloc[0]
    note = f"At epsilon = {epsilon:g}, m = {m}; with a^-[m] they add up to {row['corrected_sum']:.12g}."
    return Measured(float(row["printed_sum"]), note=note)


def batch_event(results: Results, reading: str) -> Measured:
    """P(R_e^j >= share R_e) for the first batch at n = 20,000 and epsilon = 1.

    reading: printed, of share 1, or half
    """
    R = _value(results, "R_1")
    return Measured(_value(results, "batch_event", reading), note=f"R_1 = {R:.0f}, epsilon = 1.")


def width_ratio(results: Results) -> Measured:
    """c_e of the list of sequences over the c_e of Lemma 3.1's proof."""
    return Measured(_value(results, "c_1") / _value(results, "c_1", "proof"))


def confidence_ratio(results: Results) -> Measured:
    """h_e with the rewards that an arm has, about R_e / 2, over h_e as printed."""
    return Measured(_value(results, "h_1", "per_arm") / _value(results, "h_1"))


def exp3e_probabilities(results: Results) -> Measured:
    """What the two printed probabilities of lines 9 and 10 add up to after one patient.

    Both have epsilon_(n-1) R(0) and epsilon_n R(1) below the line; line 10 has epsilon_(n-1) R(1) above it. After one
    patient, who got arm 1 and a reward of 1, R(1) = 2 and R(0) = 0; C = 1, so that the difference can be seen.
    """
    before, now, R = 1.0, 1 / math.sqrt(2), 2.0
    below = 1 + math.exp(now * R)
    return Measured((1 + math.exp(before * R)) / below, note="n = 2, C = 1, R(0) = 0, R(1) = 2.")


def constant_growth(results: Results) -> Measured:
    """C at n = 10^8 over C at n = 10^4, over the ratio of log n."""
    constants = [_value(results, "C", n=n) for n in (10**4, 10**8)]
    return Measured(constants[1] / constants[0] / 2, note=f"C is {constants[0]:.3g} and {constants[1]:.3g}.")
