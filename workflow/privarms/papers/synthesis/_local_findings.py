"""Findings about local privacy."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.claims.verdict import Region
from privarms.papers.synthesis._findings import (
    HALF,
    Finding,
    by_curve,
    decided,
    in_words,
    largest,
    of_rows,
    of_several,
    surest,
)
from privarms.plots.curves import times

MISSED = 0.05


def local(rows: pd.DataFrame) -> Iterator[Finding]:
    """All sentences about local privacy."""
    yield from _noise_of_all(rows)
    yield from _better_than_uniform(rows)
    yield from _radii(rows)
    yield from _best_arm_lost(rows)
    yield from _messages(rows)
    yield from _adult(rows)


def _named(row) -> str:
    return f"{row['curve']}, {row['instance']}, n = {int(row['horizon']):,}, epsilon = {row['epsilon']:g}"


def _noisy_and_not(rows: pd.DataFrame):
    """Pairs of cells, alike but for the deviation `noise`: with noise from every user, and without."""
    if "deviation" not in rows:
        return
    released = rows[(rows["policy"] == "ldp_mab") & (rows["variant"] == "as_released")]
    released = released.rename(columns={"regret_se": "se"})
    plain = released[released["deviation"].fillna("") == ""].set_index(["instance", "horizon", "epsilon"])
    for _, row in released[released["deviation"].fillna("") == "noise"].iterrows():
        key = row["instance"], row["horizon"], row["epsilon"]
        if key in plain.index:
            yield row, plain.loc[key]


def _noise_of_all(rows: pd.DataFrame) -> Iterator[Finding]:
    pairs = list(_noisy_and_not(rows))
    ratios = [times(noisy, plain) for noisy, plain in pairs]
    parts = [of_several(ratio.value, ratio.se, ratio.replicates, len(pairs)) for ratio in ratios]
    if not parts:
        return
    most = surest(parts)
    statement = "The noise from every user, without which no context is private, costs the released program regret."
    head = (
        f"With noise from every user the released program's regret is surely larger in {{holds}} of {{n}} cells, "
        f"surely smaller in {{fails}}; most surely {{value}} times ({_named(pairs[most][0])})."
    )
    yield decided("local regret", statement, parts, Region(1.0, np.inf), parts[most], head)


def _better_than_uniform(rows: pd.DataFrame) -> Iterator[Finding]:
    rows = rows[rows["of_uniform"].notna()]
    # Of what is private: the released program without the deviation is not.
    bare = (rows["policy"] == "ldp_mab") & (rows["variant"] == "as_released")
    bare &= rows["deviation"].fillna("") == "" if "deviation" in rows else True
    rows = rows[~bare]
    for (instance, horizon), part in rows.groupby(["instance", "horizon"], sort=False):
        best = part.loc[part.groupby("epsilon", sort=True)["of_uniform"].idxmin()]
        parts = of_rows(best, "of_uniform", len(rows))
        texts = [
            f"{epsilon:g}: {in_words(one)} ({curve})"
            for epsilon, one, curve in zip(best["epsilon"], parts, best["curve"], strict=True)
        ]
        head = (
            f"On {instance} with {int(horizon):,} users the least regret of a locally private method, as a share "
            f"of that of uniform choices, is by epsilon {'; '.join(texts)}: "
        )
        statement = (
            f"On {instance} with {int(horizon):,} users a locally private method halves the regret of uniform choices."
        )
        yield decided(
            *("local regret", statement, parts, Region(-np.inf, HALF), largest(parts), head),
            reproduced="surely below half at each.",
            differs="surely above half at {fails} of {n} budgets, surely below at {holds}.",
            inconclusive="surely below half at {holds} of {n} budgets, surely above at none.",
        )


def _radii(rows: pd.DataFrame) -> Iterator[Finding]:
    for curve, part, parts in by_curve(rows, "missed"):
        sure = surest(parts)
        where = _named(part.iloc[sure])
        statement = f"An estimate is farther from its expectation than its radius in at most 5% of looks: {curve}."
        yield decided(
            *("local validity", statement, parts, Region(-np.inf, MISSED), parts[sure]),
            f"{curve}: the radius is missed in surely ",
            reproduced=f"at most 5% of looks in all {{n}} cells; the largest share is {{value}} ({where}).",
            differs=f"more than 5% of looks in {{fails}} of {{n}} cells, most of all {{value}} ({where}).",
            inconclusive=(
                f"more than 5% of looks in no cell, and in surely fewer in {{holds}} of {{n}}; the largest share is "
                f"{{value}} ({where})."
            ),
        )


def _best_arm_lost(rows: pd.DataFrame) -> Iterator[Finding]:
    for curve, part, parts in by_curve(rows, "lost"):
        sure = surest(parts)
        row = part.iloc[sure]
        wrong = ""
        if row["wrong"] == row["wrong"]:
            wrong = f"; of all removals there {row['wrong']:.1%} took out the best arm"
        statement = f"At most 5% of users have lost their best arm at the end: {curve}."
        head = f"{curve}: no arm is taken out of any bin."
        if part["removals"].max() != 0:
            head = (
                f"{curve}: the share of users whose best arm is gone at the end is surely at most 5% in {{holds}} "
                f"of {{n}} cells and surely above in {{fails}}; the largest is {{value}} ({_named(row)}){wrong}."
            )
        yield decided("local validity", statement, parts, Region(-np.inf, MISSED), parts[sure], head)


def _messages(rows: pd.DataFrame) -> Iterator[Finding]:
    for curve, part, parts in by_curve(rows, "in_parts"):
        most = max(range(len(parts)), key=lambda i: parts[i].value)
        row = part.iloc[most]
        statement = f"No user's message names a part of the cube without noise: {curve}."
        head = f"{curve}: noise comes from every user, and no message names a bin."
        if part["in_parts"].max() != 0:
            head = (
                f"{curve}: messages of up to {{value}} of the users name the part of the cube that they are in, "
                f"whatever epsilon is ({_named(row)}); {row['alone']:.1%} of the users there change a bin's sums "
                "alone in their batch."
            )
        yield decided("local privacy", statement, parts, Region(-np.inf, 0.0), parts[most], head)


def _adult(rows: pd.DataFrame) -> Iterator[Finding]:
    data = rows[rows["regret"].isna() | rows["of_uniform"].isna()]
    data = data[data["reward"].notna()]
    for instance, part in data.groupby("instance", sort=False):
        constant = part[part["policy"] == "constant"]
        others = part[part["policy"] != "constant"]
        if not len(constant) or not len(others):
            continue
        base = constant.loc[constant["reward"].idxmax()]
        parts, texts = [], []
        for epsilon, same in others.groupby("epsilon", sort=True):
            best = same.loc[same["reward"].idxmax()]
            n = best["horizon"]
            difference = (best["reward"] - base["reward"]) / n
            se = np.hypot(best["reward_se"], base["reward_se"]) / n
            parts.append(of_several(difference, se, best["replicates"], len(others)))
            texts.append(f"{epsilon:g}: {best['reward'] / n:.4f} ({best['curve']})")
        head = (
            f"On {instance} the best arm for everybody earns {base['reward'] / base['horizon']:.4f} a user; the "
            f"locally private method that earns most, by epsilon {'; '.join(texts)}: "
        )
        statement = f"On {instance} a locally private method earns more than the best arm for everybody."
        yield decided(
            *("local regret", statement, parts, Region(0.0, np.inf), largest(parts), head),
            reproduced="surely more at every budget.",
            differs="surely more at {holds} of {n} budgets and surely less at {fails}.",
            inconclusive="surely more at {holds} of {n} budgets and surely less at none.",
        )
