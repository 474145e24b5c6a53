"""The p-values of a history from a private adaptive experiment, before and after the correction for adaptivity.

Section 4 of Neel & Roth 2018. `max_information` has the formulas and the reason not to use the printed Corollary 2.
"""

import math
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from privarms.errors import PrivarmsError
from privarms.inference.binomial_test import p_value
from privarms.inference.divergences import kl
from privarms.inference.histories import least_pulled, most_pulled, read_totals
from privarms.inference.max_information import best_beta, corrected_level, corrected_p_value, max_information_nats
from privarms.ranges import dimensions, positive, strictly_within, whole

COLUMNS = ("arm", "pulls", "mean", "p_value", "corrected_p_value", "rejected", "rejected_corrected", "holds_for")
SELECTORS = {"most-pulled": most_pulled, "least-pulled": least_pulled}
ALL = "any arm of this table, however it is chosen"
ONE = "this arm, if it was fixed beforehand or chosen only by the pulls"


def correct(
    history: Path | str,
    epsilon: float,
    null: float = 0.5,
    level: float = 0.05,
    beta: float | None = None,
    K: int | None = None,
    arm: int | str | None = None,
) -> pd.DataFrame:
    """Return one row per tested arm, `COLUMNS`, for the one-sided tests that the arm's mean is at most `null`.

    history: a CSV file of T rounds for `histories.read_totals`, or "-" for the standard input; epsilon: of reward
    privacy of the whole experiment, delta = 0; beta: of the correction, in (0, level / tested arms) (default: the best
    one for `level`); arm: the only tested arm, its number or one of SELECTORS (default: all K arms, each at level / K
    by Bonferroni, because a reader of all of them may take the smallest)

    p_value: as if pulls had been fixed in advance. Exact if all rewards are 0 or 1; otherwise Hoeffding's (1963,
    Theorem 1) exp(-n KL(mean, null)), which is valid for rewards in [0, 1]. corrected_p_value: valid for the arms in
    `holds_for`. rejected, rejected_corrected: at `level`, without and with the correction. The frame's `attrs` contain
    the settings and derived values. Raises PrivarmsError for a fault in any argument.
    """
    rates = {"null": null, "level": level} | ({} if beta is None else {"beta": beta})
    arms = {} if K is None else {"K": K}
    for name, value in {"epsilon": epsilon, **rates, **arms}.items():
        if isinstance(value, bool):
            raise PrivarmsError(f"{name}: expected one number; found {value}")
    try:
        dimensions(0, epsilon=epsilon, **rates, **arms)
        positive(epsilon=epsilon)
        strictly_within(0, 1, **rates)
        whole(1, **arms)
    except ValueError as error:
        raise PrivarmsError(str(error)) from None
    if not isinstance(history, str | PathLike):
        kind = type(history).__name__
        raise PrivarmsError(f"history: expected the path of a CSV file; found an object of the type {kind}")
    if str(history) != "-" and not Path(history).exists():
        raise PrivarmsError(f"{history}: no such file; expected a CSV file with the columns arm and reward")
    read = read_totals(history, K)
    T = read.T
    tested = _tested(arm, read.pulls)
    each = level / len(tested)
    if beta is not None and beta >= each:
        raise PrivarmsError(f"beta: expected less than the level {each:g}; a larger beta rejects nothing; found {beta}")
    beta = float(best_beta(epsilon, T, each)) if beta is None else beta
    means = read.sums / read.pulls
    if read.binary:
        p = p_value(np.rint(read.sums), read.pulls, null)
    else:
        p = np.array(
            [math.exp(-n * kl(mean, null)) if mean > null else 1.0 for n, mean in zip(read.pulls, means, strict=True)]
        )
    corrected = np.minimum(len(tested) * corrected_p_value(p, epsilon, T, beta), 1.0)
    reached = float(corrected_level(each, epsilon, T, beta))
    columns = (np.arange(read.K), read.pulls, means, p, corrected, p <= level, (p <= reached) & (reached > 0))
    columns += (ALL if arm is None else ONE,)
    table = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True))).iloc[tested].reset_index(drop=True)
    table.attrs = {"epsilon": epsilon, "null": null, "level": level, "beta": beta, "T": T, "binary": read.binary}
    table.attrs |= {"arms": read.K, "nats": float(max_information_nats(epsilon, T, beta)), "corrected_level": reached}
    return table


def _tested(arm: int | str | None, pulls: np.ndarray) -> list[int]:
    if arm is None:
        return list(range(len(pulls)))
    chosen = SELECTORS[arm](pulls) if isinstance(arm, str) and arm in SELECTORS else arm
    if not (str(chosen).isdecimal() and int(chosen) < len(pulls)):
        known = ", ".join(SELECTORS)
        raise PrivarmsError(f"arm: expected a number from 0 to {len(pulls) - 1}, {known}; found {arm}")
    return [int(chosen)]


def described(table: pd.DataFrame) -> str:
    """Return the table of `correct` as text for reading."""
    of = table.attrs
    test = "exact binomial" if of["binary"] else "Hoeffding's bound (the rewards are not all 0 or 1)"
    shown = table.drop(columns="holds_for").assign(
        mean=[f"{v:.4f}" for v in table["mean"]],
        **{name: [f"{v:.3g}" for v in table[name]] for name in ("p_value", "corrected_p_value")},
        **{name: ["yes" if v else "no" for v in table[name]] for name in ("rejected", "rejected_corrected")},
    )
    ratio = of["level"] / of["corrected_level"] if of["corrected_level"] > 0 else math.inf
    needed = (
        f"p <= {of['corrected_level']:.3g}, {ratio:.3g} times smaller"
        if math.isfinite(ratio)
        else "a p-value below 0, so no p-value can reject"
    )
    return "\n".join(
        (
            f"{of['T']:,} rounds, {of['arms']} arms, epsilon = {of['epsilon']:g}; null: mean <= {of['null']:g}; {test}",
            f"max-information {of['nats']:.4g} nats at beta = {of['beta']:.3g}: level {of['level']:g} needs {needed}",
            "",
            shown.to_string(index=False),
            "",
            f"corrected_p_value is valid for {table['holds_for'].iloc[0]}.",
            f"Assumed: the choices of all {of['T']:,} rounds are {of['epsilon']:g}-private in the rewards.",
        )
    )
