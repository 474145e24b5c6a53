"""Which policy to take, and what to expect of it: a row per K, T and epsilon, from numbers alone.

The rule. Of all policies that claim an epsilon, but those of which an audit shows more than 5% above it, that one is
taken whose regret is at most the smallest factor above the least mean regret on every instance where regret is possible
(minimax over instances). As good is every other one whose mean regret, as far as 99.9% intervals tell, is not above 1.1
times that of the one taken, on any of them. The test is the one of the largest mean power over these instances, of
those that hold their level by a theorem for this policy and need no further users; the interval is the narrowest of
that kind.
"""

import numpy as np
import pandas as pd

from privarms.claims.verdict import Region
from privarms.papers.synthesis._validity import GUARANTEED, IF_PRIVATE, PROCEDURES
from privarms.plots.curves import times

MOST_SHOWN = 1.05
AS_GOOD = 1.1
SETTING = ["K", "horizon", "epsilon"]
# It takes two rewards for every one that the policy sees.
MORE_USERS = "sample_splitting"


def refuted(privacy: pd.DataFrame) -> set[tuple[str, str]]:
    """(policy, variant) of which an audit shows clearly more than is claimed."""
    shown = privacy[(privacy["exact"] > MOST_SHOWN) | (privacy["lower_bound"] > MOST_SHOWN)]
    return set(zip(shown["policy"], shown["variant"], strict=True))


def variants(rows: pd.DataFrame) -> pd.Series:
    """The variant of each row, empty without one."""
    return rows["variant"].fillna("").astype(str) if "variant" in rows else pd.Series("", rows.index)


def candidates(runs: pd.DataFrame, privacy: pd.DataFrame) -> pd.DataFrame:
    """The rows of policies that may be taken, where regret is possible."""
    out = refuted(privacy)
    kept = [pair not in out for pair in zip(runs["policy"], variants(runs), strict=True)]
    return runs[runs["claims"] & (runs["bound"] > 0) & np.array(kept, bool)]


def take(rows: pd.DataFrame) -> tuple[str, list[str]]:
    """The curve to be taken among the candidates of one setting, and those as good; of those on all instances."""
    regret = rows.pivot(index="curve", columns="instance", values="regret")
    regret = regret.loc[rows["curve"].unique()].dropna()
    worst = (regret / regret.min()).max(axis=1)
    best = worst.idxmin()
    by = {curve: part.set_index("instance") for curve, part in rows.groupby("curve", sort=False)}
    as_good = [
        curve
        for curve in worst.sort_values().index
        if curve != best
        and all(Region(-np.inf, AS_GOOD).decide(times(by[curve].loc[i], by[best].loc[i])) != "differs" for i in regret)
    ]
    return best, as_good


def usable(procedures: pd.DataFrame, *, more_users: bool = False) -> pd.DataFrame:
    """The rows of procedures that hold their level by a theorem, with or without further users."""
    names = [n for n in (*GUARANTEED, *IF_PRIVATE) if more_users or n != MORE_USERS]
    return procedures[procedures["procedure"].isin(names)]


def advise(runs: pd.DataFrame, tests: pd.DataFrame, privacy: pd.DataFrame) -> pd.DataFrame:
    """The table; regret, shares and factors are ranges over the instances where regret is possible.

    of_uniform: of the regret of uniform choices; of_bound: over the bound by d_epsilon times ln T; times_not_private:
    over the least regret of a policy without privacy
    """
    rows = []
    open_ = runs[~runs["claims"] & (runs["bound"] > 0)]
    every = candidates(runs, privacy)
    for setting, part in every.groupby(SETTING, sort=True):
        best, as_good = take(part)
        own = part[part["curve"] == best].set_index("instance")
        K, horizon, epsilon = setting
        reference = open_[(open_["K"] == K) & (open_["horizon"] == horizon)].groupby("instance")["regret"].min()
        here = tests[
            (tests["curve"] == best)
            & (tests["K"] == K)
            & (tests["horizon"] == horizon)
            & np.isclose(tests["epsilon"], epsilon)
        ]
        found = {"K": K, "T": horizon, "epsilon": epsilon, "take": best, "as_good": "; ".join(as_good)}
        for name, values in (
            ("regret", own["regret"]),
            ("q90", own["q90"]),
            ("of_uniform", own["regret"] / own["uniform"]),
            ("of_bound", own["over_bound"]),
            ("times_not_private", own["regret"] / reference.reindex(own.index)),
        ):
            found |= {f"{name}_least": values.min(), f"{name}_most": values.max()}
        rows.append(found | _inference(here) | shown_loss(own.iloc[0], privacy))
    return pd.DataFrame(rows)


def rates(tests: pd.DataFrame) -> pd.DataFrame:
    """The counts as shares of the runs: error, power, mean_coverage, gap_coverage."""
    names = {"errors": "error", "powers": "power", "mean_held": "mean_coverage", "gap_held": "gap_coverage"}
    return tests.assign(**{new: tests[old] / tests["trials"] for old, new in names.items()})


def _inference(tests: pd.DataFrame) -> dict:
    shares = rates(tests)
    by = shares.groupby("procedure", sort=False)
    power, error = by["power"].mean(), by["error"].max()
    allowed = [n for n in usable(shares)["procedure"].unique() if power.notna()[n]]
    test = max(allowed, key=lambda n: power[n]) if allowed else ""
    widths = by[["mean_width", "gap_width"]].mean().dropna()
    known = [n for n in widths.index if n in {*GUARANTEED, *IF_PRIVATE} - {MORE_USERS}]
    interval = min(known, key=lambda n: widths.loc[n, "mean_width"]) if known else ""
    return {
        "naive_error_most": error.get("naive", np.nan),
        "test": PROCEDURES.get(test, ""),
        "test_error_most": error.get(test, np.nan),
        "test_power": power.get(test, np.nan),
        "power_twice_the_users": power.get(MORE_USERS, np.nan),
        "naive_coverage_least": by["mean_coverage"].min().get("naive", np.nan),
        "interval": PROCEDURES.get(interval, ""),
        "interval_coverage_least": by["mean_coverage"].min().get(interval, np.nan),
        "mean_width": widths["mean_width"].get(interval, np.nan),
        "gap_width": widths["gap_width"].get(interval, np.nan),
    }


def shown_loss(row: pd.Series, privacy: pd.DataFrame) -> dict:
    """What the audits show of the policy of a row, over what it claims; audits: in how many settings."""
    variant = row["variant"] if isinstance(row.get("variant"), str) else ""
    own = privacy[(privacy["policy"] == row["policy"]) & (privacy["variant"] == variant)]
    shown = own.iloc[0] if len(own) else {"exact": np.nan, "lower_bound": np.nan, "audited": 0}
    return {"loss_exact": shown["exact"], "loss_shown": shown["lower_bound"], "audits": int(shown["audited"])}
