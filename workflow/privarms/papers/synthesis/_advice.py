"""The recommended policy per K, T and epsilon, and its performance. The table's caption states the rule."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.inference.rows import as_frame
from privarms.ledger import contrasts
from privarms.ledger.intervals import quantile
from privarms.papers.synthesis._validity import PROCEDURES

MOST_SHOWN = 1.05
AS_GOOD = 1.1
# Procedures that keep their level, the last one for private policies. Sample splitting does too, with twice the users.
VALID = ("confidence_sequence", "e_value", "max_information")


@as_frame
def advise(runs: pd.DataFrame, tests: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[dict]:
    """Return the table; regret, shares and factors are ranges over the instances with unequal arms.

    of_uniform: of the regret of uniform choices; of_bound: over the bound by d_epsilon times ln T; times_not_private:
    over the least regret of a policy without privacy
    """
    over = (privacy["exact"] > MOST_SHOWN) | (privacy["lower_bound"] > MOST_SHOWN)
    trusted = privacy[~over & (privacy["audited"] > 0)]
    pairs = set(zip(trusted["policy"], trusted["variant"], strict=True))
    kept = np.array([pair in pairs for pair in zip(runs["policy"], runs["variant"], strict=True)], bool)
    possible = runs["bound"] > 0
    least = runs[~runs["claims"] & possible].groupby(["K", "horizon", "instance"])["regret"].min()
    key: tuple
    for key, part in runs[runs["claims"] & possible & kept].groupby(["K", "horizon", "epsilon"]):
        K, T, epsilon = key
        curve, as_good = take(part)
        own = part[part["curve"] == curve].set_index("instance")
        ranges = {
            "regret": own["regret"],
            "q90": own["q90"],
            "of_uniform": own["regret"] / own["uniform"],
            "of_bound": own["over_bound"],
            "times_not_private": own["regret"] / [least.get((K, T, instance), np.nan) for instance in own.index],
        }
        ends = {f"{k}_{end}": v for k, x in ranges.items() for end, v in (("least", x.min()), ("most", x.max()))}
        here = tests[(tests[["curve", "K", "horizon"]] == [curve, K, T]).all(axis=1)]
        here = here[np.isclose(here["epsilon"], epsilon)]
        row = {"K": K, "T": T, "epsilon": epsilon, "take": curve, "as_good": "; ".join(as_good)}
        yield row | ends | _inference(here) | shown_loss(own.iloc[0], privacy)


def take(rows: pd.DataFrame) -> tuple[str, list[str]]:
    """Return the recommended curve of one setting, and those as good, among the curves that ran on all instances."""
    by = {(row["curve"], row["instance"]): row for _, row in rows.iterrows()}
    regret = rows.pivot(index="curve", columns="instance", values="regret").loc[rows["curve"].unique()].dropna()
    worst = (regret / regret.min()).max(axis=1)
    best = worst.idxmin()

    def as_good(curve: str) -> bool:
        return all(_least_ratio(by[curve, i], by[best, i]) <= AS_GOOD for i in regret)

    return best, [curve for curve in worst.sort_values().index if curve != best and as_good(curve)]


def _least_ratio(row: pd.Series, best: pd.Series) -> float:
    """Return the lower end of the 99.9% interval of the ratio of two independent mean regrets.

    If all runs agree, another one is at most twice as large.
    """
    top, bottom = ((one["regret"], one["se"], one["replicates"]) for one in (row, best))
    errors = [float(contrasts.error(*one, 0.0, 2 * one[0])) for one in (top, bottom)]
    ratio, runs = top[0] / bottom[0], min(top[2], bottom[2])
    return ratio - quantile(int(runs)) * math.hypot(errors[0], ratio * errors[1]) / bottom[0]


def rates(tests: pd.DataFrame) -> pd.DataFrame:
    """Add the counts as shares of the runs: error, power, mean_coverage, gap_coverage."""
    names = {"errors": "error", "powers": "power", "mean_held": "mean_coverage", "gap_held": "gap_coverage"}
    return tests.assign(**{new: tests[old] / tests["trials"] for old, new in names.items()})


def _inference(tests: pd.DataFrame) -> dict:
    by = rates(tests).groupby("procedure", sort=False)
    error, coverage = by["error"].max(), by["mean_coverage"].min()
    means = by[["power", "mean_width", "gap_width"]].mean()
    valid = means[means.index.isin(VALID)]
    powers, widths = valid["power"].dropna(), valid[["mean_width", "gap_width"]].dropna()["mean_width"]
    test = str(powers.idxmax()) if len(powers) else ""
    interval = str(widths.idxmin()) if len(widths) else ""
    return {
        "naive_error_most": error.get("naive", np.nan),
        "test": PROCEDURES.get(test, ""),
        "test_error_most": error.get(test, np.nan),
        "test_power": powers.get(test, np.nan),
        "power_twice_the_users": means["power"].get("sample_splitting", np.nan),
        "naive_coverage_least": coverage.get("naive", np.nan),
        "interval": PROCEDURES.get(interval, ""),
        "interval_coverage_least": coverage.get(interval, np.nan),
        "mean_width": means["mean_width"].get(interval, np.nan),
        "gap_width": means["gap_width"].get(interval, np.nan),
    }


def shown_loss(row: pd.Series, privacy: pd.DataFrame) -> dict:
    """Return the audited loss of a row's policy over its claim; audits: the number of audited settings.

    loss_exact is nan if none is known, or if counts show a larger loss in a setting without an exact one.
    """
    shown = privacy[(privacy["policy"] == row["policy"]) & (privacy["variant"] == row["variant"])].iloc[0]
    exact = math.nan if shown["exact"] < shown["lower_bound"] else shown["exact"]
    return {"loss_exact": exact, "loss_shown": shown["lower_bound"], "audits": int(shown["audited"])}
