"""Findings about central privacy: regret, bias, tests, intervals and audits."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.claims.verdict import Measured, Region, quantile
from privarms.papers.synthesis import _advice
from privarms.papers.synthesis._findings import (
    HALF,
    Finding,
    decided,
    in_words,
    largest,
    of_rows,
    of_several,
    surest,
)
from privarms.papers.synthesis._validity import ALPHA, GUARANTEED, IF_PRIVATE, PROCEDURES
from privarms.plots.curves import times

TWICE = 2.0
# Exact losses are computed in floating point.
ROUNDING = 1e-9


def central(runs: pd.DataFrame, tests: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    """All sentences about central privacy."""
    yield from _which(_advice.advise(runs, tests, privacy))
    yield from _price(runs, privacy)
    yield from _learning(runs, privacy)
    yield from _theorem_1(runs, privacy)
    yield from _levels(tests)
    kept = tests[_not_refuted(tests, privacy)]
    yield from _powers(kept)
    yield from _max_information(kept)
    yield from _coverage(tests)
    yield from _widths(runs, tests, privacy)
    yield from _audits(privacy)


def place(row) -> str:
    """The cell of a row in words."""
    budget = f", epsilon = {row['epsilon']:g}" if row["claims"] and row["epsilon"] == row["epsilon"] else ""
    return f"{row['curve']}, {row['instance']}, T = {int(row['horizon']):,}{budget}"


def _which(advice: pd.DataFrame) -> Iterator[Finding]:
    n = len(advice)
    taken = advice["take"].value_counts(sort=True)
    alone = advice[advice["as_good"] == ""]["take"].value_counts()
    listed = ", ".join(f"{name} in {count}" for name, count in taken.items())
    first, most = taken.index[0], int(taken.iloc[0])
    without_equal = int(alone.get(first, 0))
    sentence = (
        f"Over {n} settings of T and epsilon the one to take, by the rule of the table, is {listed}; {first} has no "
        f"other policy as good beside it in {without_equal} of its {most}."
    )
    verdict = "does not hold" if most < n else "holds" if without_equal == n else "not decided"
    statement = "One policy is the one to take everywhere."
    yield Finding("regret", verdict, sentence, statement, most, n - most, 0, np.nan, np.nan, np.nan)


def _taken(runs: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[tuple[tuple, pd.DataFrame]]:
    """(K, T, epsilon) and the rows, one per instance, of the policy to be taken there."""
    for setting, part in _advice.candidates(runs, privacy).groupby(_advice.SETTING, sort=True):
        best, _ = _advice.take(part)
        yield setting, part[part["curve"] == best]


def _compared(runs: pd.DataFrame, privacy: pd.DataFrame) -> int:
    """How many settings and instances are compared."""
    return max(len(_advice.candidates(runs, privacy).groupby([*_advice.SETTING, "instance"])), 1)


def _price(runs: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    together = _compared(runs, privacy)
    open_ = runs[~runs["claims"] & (runs["bound"] > 0)]
    # T -> epsilon and the ratio to the best policy without privacy on the worst instance.
    by_horizon: dict[int, list[tuple[float, Measured]]] = {}
    for (K, horizon, epsilon), own in _taken(runs, privacy):
        parts = []
        for _, row in own.iterrows():
            others = open_[(open_["K"] == K) & (open_["horizon"] == horizon) & (open_["instance"] == row["instance"])]
            if len(others):
                ratio = times(row, others.loc[others["regret"].idxmin()])
                parts.append(of_several(ratio.value, ratio.se, ratio.replicates, together))
        if parts:
            by_horizon.setdefault(horizon, []).append((epsilon, largest(parts)))
    for horizon, worst in sorted(by_horizon.items()):
        head = (
            f"At T = {int(horizon):,} the regret of the private policy to be taken, over that of the best one "
            f"without privacy, on the worst instance, is by epsilon "
            f"{'; '.join(f'{e:g}: {in_words(m)}' for e, m in worst)}: "
        )
        statement = f"At T = {int(horizon):,} privacy costs at most a factor of two in regret."
        parts = [m for _, m in worst]
        yield decided(
            *("regret", statement, parts, Region(-np.inf, TWICE), largest(parts), head),
            reproduced="at every one of these privacy costs at most a factor of two.",
            differs="privacy surely costs more than a factor of two at {fails} of {n} budgets, and surely not at "
            "{holds}.",
            inconclusive="a factor of two at most is sure at {holds} of {n} budgets, and ruled out at none.",
        )


def _learning(runs: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    together = _compared(runs, privacy)
    by_horizon: dict[int, list[tuple[float, Measured]]] = {}
    for (_, horizon, epsilon), own in _taken(runs, privacy):
        shares = own.assign(share=own["regret"] / own["uniform"], share_se=own["se"] / own["uniform"])
        by_horizon.setdefault(horizon, []).append((epsilon, largest(of_rows(shares, "share", together))))
    for horizon, worst in sorted(by_horizon.items()):
        head = (
            f"At T = {int(horizon):,} the policy to be taken loses, on the worst instance, this share of what "
            f"uniform choices lose, by epsilon {'; '.join(f'{e:g}: {in_words(m)}' for e, m in worst)}: "
        )
        statement = (
            f"At T = {int(horizon):,} a private policy halves the regret of uniform choices, whatever the instance."
        )
        shares = [m for _, m in worst]
        yield decided(
            *("regret", statement, shares, Region(-np.inf, HALF), largest(shares), head),
            reproduced="less than half at each.",
            differs="surely more than half at {fails} of {n} budgets, surely less at {holds}.",
            inconclusive="surely less than half at {holds} of {n} budgets, surely more at none.",
        )


def _not_refuted(rows: pd.DataFrame, privacy: pd.DataFrame) -> np.ndarray:
    """bool[N]: whether no audit shows clearly more than the policy claims."""
    out = _advice.refuted(privacy)
    return np.array([pair not in out for pair in zip(rows["policy"], _advice.variants(rows), strict=True)], bool)


def _theorem_1(runs: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    kept = _not_refuted(runs, privacy)
    rows = runs[runs["claims"] & kept & runs["over_theorem"].notna() & (runs["unpulled"] == 0)]
    rows = rows[rows["over_theorem_se_most"].notna()]
    # The largest of K arms: the intervals hold for all of them, with the largest of their errors.
    parts = of_rows(rows, "over_theorem", int(rows["K"].sum()), "over_theorem_se_most")
    if not parts:
        return
    sure = surest(parts)
    where = place(rows.iloc[sure])
    statement = "The bias of an arm's mean is at most (e^epsilon - 1) mu (Theorem 1 of Neel & Roth 2018)."
    yield decided(
        *("bias", statement, parts, Region(-np.inf, 1.0), parts[sure]),
        "Where every arm was pulled in all runs, the largest |bias| over Theorem 1's bound is surely below 1 in "
        "{holds} of {n} cells",
        reproduced=f"; the most surely large one is {{value}} of the bound ({where}).",
        differs=f" and surely above it in {{fails}}, first of all {{value}} ({where}).",
        inconclusive=(
            f", above it in none, and not decided in {{open}}, where the bound is near the noise of the "
            f"simulation; the most surely large one is {{value}} of the bound ({where})."
        ),
    )
    biased = runs[(runs["unpulled"] == 0) & (runs["worst_bias_se"] > 0)]
    parts = of_rows(biased, "worst_bias", int(biased["K"].sum()))
    below, above = sum(p.high < 0 for p in parts), sum(p.low > 0 for p in parts)
    most = min(parts, key=lambda p: p.high)
    row = biased.iloc[parts.index(most)]
    sentence = (
        f"The arm of the largest |bias| is surely underestimated in {below} of {len(parts)} cells and surely "
        f"overestimated in {above}; the most surely negative bias is {in_words(most)} ({place(row)})."
    )
    verdict = "does not hold" if above else "holds" if below == len(parts) else "not decided"
    counts = below, above, len(parts) - below - above
    yield Finding(
        "bias", verdict, sentence, "Adaptive pulls bias sample means downwards.", *counts, most.value, *most.interval
    )


def _fractions(rows: pd.DataFrame, events: str) -> list[Measured]:
    return [Measured.fraction(int(r[events]), int(r["trials"]), "", len(rows)) for _, r in rows.iterrows()]


def _levels(tests: pd.DataFrame) -> Iterator[Finding]:
    for name, label in PROCEDURES.items():
        rows = tests[tests["procedure"] == name]
        if not len(rows):
            continue
        parts = _fractions(rows, "errors")
        sure = surest(parts)
        where = place(rows.iloc[sure])
        theory = " (by a theorem it does, whatever the policy)" if name in GUARANTEED else ""
        theory = " (by a theorem it does, for private policies)" if name in IF_PRIVATE else theory
        statement = f"The type I error of the adaptively chosen test is at most {ALPHA:.0%}: {label}."
        yield decided(
            *("tests", statement, parts, Region(-np.inf, ALPHA), parts[sure], f"{label}: "),
            reproduced=(
                f"in all {{n}} cells type I error is surely at most {ALPHA:.0%}{theory}; the most surely large one is "
                f"{{value}} ({where})."
            ),
            differs=(
                f"type I error is surely above {ALPHA:.0%} in {{fails}} of {{n}} cells{theory}, most surely "
                f"{{value}} ({where})."
            ),
            inconclusive=(
                f"type I error is surely above {ALPHA:.0%} in no cell, and surely at most that in {{holds}} of "
                f"{{n}}{theory}; the most surely large one is {{value}} ({where})."
            ),
        )


def _average(rows: pd.DataFrame, events: str) -> tuple[float, float]:
    """The mean over cells of a share, and its standard error."""
    shares = rows[events] / rows["trials"]
    # One event more, so that a share of 0 or 1 has an error too.
    smoothed = (rows[events] + 1) / (rows["trials"] + 2)
    se = np.sqrt((smoothed * (1 - smoothed) / rows["trials"]).sum()) / len(rows)
    return shares.mean(), se


def _powers(tests: pd.DataFrame) -> Iterator[Finding]:
    for horizon, part in tests[tests["powers"].notna()].groupby("horizon", sort=True):
        # The same cells for all, those of policies that claim privacy.
        part = part[part["claims"]]
        means = {n: _average(rows, "powers") for n, rows in part.groupby("procedure", sort=False)}
        allowed = [n for n in means if n in {*GUARANTEED, *IF_PRIVATE} - {_advice.MORE_USERS}]
        if len(allowed) < 2:
            continue
        best, second = sorted(allowed, key=lambda n: -means[n][0])[:2]
        difference = means[best][0] - means[second][0]
        shown = Measured(difference, float(np.hypot(means[best][1], means[second][1])), None)
        cells = len(part[part["procedure"] == best])
        each = ", ".join(f"{PROCEDURES[n]} {m[0]:.3f}" for n, m in sorted(means.items(), key=lambda x: -x[1][0]))
        head = (
            f"At T = {int(horizon):,}, over the {cells} cells of private policies with a better arm, the mean "
            f"power is: {each}. "
        )
        tail = "; sample splitting takes twice as many users, and naive and Bonferroni have no guarantee."
        statement = f"At T = {int(horizon):,} one test that holds its level is more powerful than all others."
        yield decided(
            *("tests", statement, [shown], Region(0.0, np.inf), shown, head),
            reproduced=f"Of those that hold their level by a theorem with the same users the {PROCEDURES[best]} "
            f"rejects most often, {{value}} above the {PROCEDURES[second]}{tail}",
            inconclusive=f"Between the {PROCEDURES[best]} and the {PROCEDURES[second]} it is not decided{tail}",
        )


def _max_information(tests: pd.DataFrame) -> Iterator[Finding]:
    rows = tests[tests["powers"].notna() & tests["claims"] & tests["procedure"].isin(["max_information", "e_value"])]
    together = max(len(rows.groupby(["horizon", "epsilon"])), 1)
    for horizon, part in rows.groupby("horizon", sort=True):
        parts, texts = [], []
        for epsilon, same in part.groupby("epsilon", sort=True):
            by = {n: _average(r, "powers") for n, r in same.groupby("procedure", sort=False)}
            if len(by) < 2:
                continue
            (a, se_a), (b, se_b) = by["max_information"], by["e_value"]
            se = float(np.hypot(se_a, se_b)) * quantile(None, together) / quantile(None)
            parts.append(Measured(a - b, se))
            level = same[same["procedure"] == "max_information"]["log_gamma"].iloc[0] / np.log(10)
            texts.append(f"{epsilon:g}: {a:.3f} against {b:.3f}, at level 1e{level:.0f}")
        if not parts:
            continue
        head = (
            f"At T = {int(horizon):,} the mean power of the max-information correction and of the e-value is, by "
            f"epsilon, {'; '.join(texts)}. "
        )
        statement = f"At T = {int(horizon):,} the max-information correction is as powerful as an e-value."
        yield decided(
            *("tests", statement, parts, Region(0.0, np.inf), min(parts, key=lambda m: m.value), head),
            reproduced="The correction is surely not behind at any of these.",
            differs="The correction is surely behind at {fails} of {n} budgets, and surely ahead at {holds}.",
            inconclusive="The correction is surely behind at none, and surely ahead at {holds} of {n}.",
        )


def _coverage(tests: pd.DataFrame) -> Iterator[Finding]:
    for what, of in (("mean", "the mean of the most pulled arm"), ("gap", "its gap to the next")):
        for name, label in PROCEDURES.items():
            rows = tests[(tests["procedure"] == name) & tests[f"{what}_held"].notna()]
            if not len(rows):
                continue
            parts = _fractions(rows, f"{what}_held")
            sure = min(range(len(parts)), key=lambda i: (parts[i].high, parts[i].value))
            where = place(rows.iloc[sure])
            statement = f"95% intervals of {of} cover it with at least 95%: {label}."
            yield decided(
                *("intervals", statement, parts, Region(0.95, np.inf), parts[sure]),
                f"{label}, {of}: coverage is surely ",
                reproduced=f"95% or more in all {{n}} cells; the most surely low one is {{value}} ({where}).",
                differs=f"below 95% in {{fails}} of {{n}} cells, most surely {{value}} ({where}).",
                inconclusive=(
                    f"below 95% in no cell, and surely 95% or more in {{holds}} of {{n}}; the most surely low one is "
                    f"{{value}} ({where})."
                ),
            )


def _widths(runs: pd.DataFrame, tests: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    rows = tests[tests["procedure"] == "confidence_sequence"]
    uniform = rows[(rows["policy"] == "uniform")].set_index(["instance", "horizon", "K"])
    chosen = []
    for (K, horizon, epsilon), taken in _taken(runs, privacy):
        own = rows[(rows["curve"] == taken["curve"].iloc[0]) & (rows["horizon"] == horizon) & (rows["K"] == K)]
        own = own[np.isclose(own["epsilon"], epsilon) & own["powers"].notna()]
        for _, row in own.iterrows():
            key = row["instance"], horizon, K
            if key in uniform.index:
                chosen.append((row, uniform.loc[key]))
    parts = []
    for row, base in chosen:
        value = row["gap_width"] / base["gap_width"]
        se = value * np.hypot(row["gap_width_se"] / row["gap_width"], base["gap_width_se"] / base["gap_width"])
        parts.append(of_several(value, se, min(row["trials"], base["trials"]), len(chosen)))
    if not parts:
        return
    most = surest(parts)
    median = float(np.median([p.value for p in parts]))
    statement = "Little regret costs width: the interval of the gap is wider than after uniform choices."
    head = (
        f"After the policy to be taken the always-valid interval of the gap is, in the median, {median:.2f} times "
        f"as wide as after uniform choices: surely wider in {{holds}} of {{n}} cells, surely narrower in "
        f"{{fails}}, most surely wider {{value}} times ({place(chosen[most][0])})."
    )
    yield decided("intervals", statement, parts, Region(1.0, np.inf), parts[most], head)


def _audits(privacy: pd.DataFrame) -> Iterator[Finding]:
    rows = privacy[privacy["claims"]]
    audited = rows[rows["audited"] > 0]
    names = (rows["policy"] + np.where(rows["variant"] == "", "", " " + rows["variant"])).str.replace("_", " ")
    over = audited[(audited["exact"] > 1 + ROUNDING) | (audited["lower_bound"] > 1)]
    each = "; ".join(
        f"{names[i]} {r['exact']:.3f}" if r["exact"] == r["exact"] else f"{names[i]} at least {r['lower_bound']:.3f}"
        for i, r in audited.iterrows()
    )
    missing = ", ".join(names[rows["audited"] == 0]) or "none"
    more = ", ".join(names[over.index]) or "none"
    sentence = (
        f"Of {len(audited)} audited policies {len(over)} give away more than they claim ({more}); of the others no "
        f"audit proves that they do not. What the audited event shows, over the claim: {each}. Without an audit: "
        f"{missing}."
    )
    verdict = "does not hold" if len(over) else "not decided" if len(audited) < len(rows) else "holds"
    counts = len(audited) - len(over), len(over), len(rows) - len(audited)
    values = audited[["exact", "lower_bound"]].max(axis=1)
    largest_loss = float(values.max()) if len(values) else np.nan
    statement = "No audit shows that a policy gives away more than it claims."
    yield Finding("privacy", verdict, sentence, statement, *counts, largest_loss, np.nan, np.nan)
