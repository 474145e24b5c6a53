"""What holds and what does not, in sentences that the numbers make.

A statement is decided as a claim is (`verdict`): its 99.9% interval, of several cells together (Bonferroni), is inside
of what the statement allows, outside of it, or neither. Which sentence is said follows from that; nothing else is.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from privarms.artifacts.synthesis import _advice
from privarms.artifacts.synthesis._validity import ALPHA, GUARANTEED, IF_PRIVATE, PROCEDURES
from privarms.claims.verdict import Measured, Region, quantile

VERDICTS = {"reproduced": "holds", "differs": "does not hold", "inconclusive": "not decided", "unverifiable": "unknown"}
TWICE = 2.0
HALF = 0.5
# Exact losses are computed in floating point.
ROUNDING = 1e-9


class Finding(NamedTuple):
    """A row of the table.

    holds_in, fails_in, open_in: in how many cells or settings the statement surely holds, surely does not, and is not
    decided; value, low, high: of the number in the sentence, with its interval, where it has one
    """

    about: str
    verdict: str
    sentence: str
    statement: str
    holds_in: int
    fails_in: int
    open_in: int
    value: float
    low: float
    high: float


def found(about: str, statement: str, parts: Sequence[Measured], region: Region, words: dict, shown: Measured):
    """A finding about several numbers, which hold together.

    words: a sentence for each verdict, with {holds}, {fails}, {open}, {n} for the counts and {value} for what is shown
    """
    decisions = [region.decide(part) for part in parts]
    holds, fails = decisions.count("reproduced"), decisions.count("differs")
    verdict = "differs" if fails else "reproduced" if holds == len(parts) else "inconclusive"
    said = words[verdict].format(
        holds=holds, fails=fails, open=len(parts) - holds - fails, n=len(parts), value=_shown(shown)
    )
    low, high = shown.interval
    counts = holds, fails, len(parts) - holds - fails
    return Finding(about, VERDICTS[verdict], said, statement, *counts, shown.value, low, high)


def _shown(measured: Measured) -> str:
    low, high = measured.interval
    if not np.isfinite(high - low) or low == high:
        return f"{measured.value:.3g}"
    return f"{measured.value:.3g} ({low:.3g} to {high:.3g})"


def of_several(value: float, se: float, replicates: int, together: int) -> Measured:
    """A number whose interval holds together with so many others."""
    half = quantile(int(replicates), together) * se if se == se else np.inf
    return Measured(float(value), float(se), int(replicates), "", float(value - half), float(value + half))


def place(row) -> str:
    """The cell of a row in words."""
    budget = f", epsilon = {row['epsilon']:g}" if row["claims"] and row["epsilon"] == row["epsilon"] else ""
    return f"{row['curve']}, {row['instance']}, T = {int(row['horizon']):,}{budget}"


def central(runs: pd.DataFrame, tests: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    """All sentences about central privacy."""
    advice = _advice.advise(runs, tests, privacy)
    yield from _which(advice)
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


def _which(advice: pd.DataFrame) -> Iterator[Finding]:
    n = len(advice)
    taken = advice["take"].value_counts(sort=True)
    alone = advice[advice["as_good"] == ""]["take"].value_counts()
    listed = ", ".join(f"{name} in {count}" for name, count in taken.items())
    first = taken.index[0]
    sentence = (
        f"Over {n} settings of T and epsilon the one to take, by the rule of the table, is {listed}; {first} has no "
        f"other policy as good beside it in {int(alone.get(first, 0))} of its {taken.iloc[0]}."
    )
    one = taken.iloc[0] == n
    verdict = "holds" if one and alone.get(first, 0) == n else "does not hold" if not one else "not decided"
    counts = int(taken.iloc[0]), int(n - taken.iloc[0]), 0
    yield Finding("regret", verdict, sentence, "One policy is the one to take everywhere.", *counts, *[np.nan] * 3)


def _best_over(runs: pd.DataFrame, privacy: pd.DataFrame, together: int):
    """(T, epsilon, parts): by instance, the regret of the policy to be taken over that of the best without privacy."""
    open_ = runs[~runs["claims"] & (runs["bound"] > 0)]
    for (K, horizon, epsilon), part in _advice.candidates(runs, privacy).groupby(_advice.SETTING, sort=True):
        best, _ = _advice.take(part)
        own = part[part["curve"] == best]
        parts = []
        for _, row in own.iterrows():
            there = open_[(open_["K"] == K) & (open_["horizon"] == horizon) & (open_["instance"] == row["instance"])]
            if len(there):
                ratio = _advice.over(row, there.loc[there["regret"].idxmin()])
                parts.append((row, of_several(ratio.value, ratio.se, ratio.replicates, together)))
        if parts:
            yield horizon, epsilon, parts


def _price(runs: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    compared = _advice.candidates(runs, privacy).groupby([*_advice.SETTING, "instance"])
    settings = list(_best_over(runs, privacy, max(len(compared), 1)))
    for horizon in sorted({h for h, _, _ in settings}):
        here = [(e, parts) for h, e, parts in settings if h == horizon]
        worst = [(e, max((p for _, p in parts), key=lambda m: m.value)) for e, parts in here]
        each = "; ".join(f"{e:g}: {_shown(m)}" for e, m in worst)
        head = (
            f"At T = {int(horizon):,} the regret of the private policy to be taken, over that of the best one "
            f"without privacy, on the worst instance, is by epsilon {each}: "
        )
        words = {
            "reproduced": head + "at every one of these privacy costs at most a factor of two.",
            "differs": head
            + "privacy surely costs more than a factor of two at {fails} of {n} budgets, and surely not at {holds}.",
            "inconclusive": head + "a factor of two at most is sure at {holds} of {n} budgets, and ruled out at none.",
        }
        statement = f"At T = {int(horizon):,} privacy costs at most a factor of two in regret."
        yield found(
            "regret",
            statement,
            [m for _, m in worst],
            Region(-np.inf, TWICE),
            words,
            max((m for _, m in worst), key=lambda m: m.value),
        )


def _learning(runs: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    rows = _advice.candidates(runs, privacy)
    together = max(len(rows.groupby([*_advice.SETTING, "instance"])), 1)
    for horizon, part in rows.groupby("horizon", sort=True):
        shares, texts = [], []
        for epsilon, same in part.groupby("epsilon", sort=True):
            best, _ = _advice.take(same)
            own = same[same["curve"] == best]
            measured = [
                of_several(r["regret"] / r["uniform"], r["se"] / r["uniform"], r["replicates"], together)
                for _, r in own.iterrows()
            ]
            worst = max(measured, key=lambda m: m.value)
            shares.append(worst)
            texts.append(f"{epsilon:g}: {_shown(worst)}")
        head = (
            f"At T = {int(horizon):,} the policy to be taken loses, on the worst instance, this share of what "
            f"uniform choices lose, by epsilon {'; '.join(texts)}: "
        )
        words = {
            "reproduced": head + "less than half at each.",
            "differs": head + "surely more than half at {fails} of {n} budgets, surely less at {holds}.",
            "inconclusive": head + "surely less than half at {holds} of {n} budgets, surely more at none.",
        }
        statement = (
            f"At T = {int(horizon):,} a private policy halves the regret of uniform choices, whatever the instance."
        )
        yield found("regret", statement, shares, Region(-np.inf, HALF), words, max(shares, key=lambda m: m.value))


def _not_refuted(rows: pd.DataFrame, privacy: pd.DataFrame) -> np.ndarray:
    """bool[N]: whether no audit shows clearly more than the policy claims."""
    out = _advice.refuted(privacy)
    return np.array([pair not in out for pair in zip(rows["policy"], _advice.variants(rows), strict=True)], bool)


def _theorem_1(runs: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    kept = _not_refuted(runs, privacy)
    rows = runs[runs["claims"] & kept & runs["over_theorem"].notna() & (runs["unpulled"] == 0)]
    rows = rows[rows["over_theorem_se_most"].notna()]
    # The largest of K arms: the intervals hold for all of them, with the largest of their errors.
    together = int(rows["K"].sum())
    parts = [
        of_several(r["over_theorem"], r["over_theorem_se_most"], r["replicates"], together) for _, r in rows.iterrows()
    ]
    if not parts:
        return
    sure = max(range(len(parts)), key=lambda i: parts[i].low)
    where = place(rows.iloc[sure])
    statement = "The bias of an arm's mean is at most (e^epsilon - 1) mu (Theorem 1 of Neel & Roth 2018)."
    head = (
        "Where every arm was pulled in all runs, the largest |bias| over Theorem 1's bound is surely below 1 in "
        "{holds} of {n} cells"
    )
    words = {
        "reproduced": head + f"; the most surely large one is {{value}} of the bound ({where}).",
        "differs": head + f" and surely above it in {{fails}}, first of all {{value}} ({where}).",
        "inconclusive": head
        + (
            f", above it in none, and not decided in {{open}}, where the bound is near the noise of the "
            f"simulation; the most surely large one is {{value}} of the bound ({where})."
        ),
    }
    yield found("bias", statement, parts, Region(-np.inf, 1.0), words, parts[sure])
    biased = runs[(runs["unpulled"] == 0) & (runs["worst_bias_se"] > 0)]
    together = int(biased["K"].sum())
    parts = [of_several(r["worst_bias"], r["worst_bias_se"], r["replicates"], together) for _, r in biased.iterrows()]
    below, above = sum(p.high < 0 for p in parts), sum(p.low > 0 for p in parts)
    most = min(parts, key=lambda p: p.high)
    row = biased.iloc[parts.index(most)]
    sentence = (
        f"The arm of the largest |bias| is surely underestimated in {below} of {len(parts)} cells and surely "
        f"overestimated in {above}; the most surely negative bias is {_shown(most)} ({place(row)})."
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
        sure = max(range(len(parts)), key=lambda i: (parts[i].low, parts[i].value))
        where = place(rows.iloc[sure])
        theory = " (by a theorem it does, whatever the policy)" if name in GUARANTEED else ""
        theory = " (by a theorem it does, for private policies)" if name in IF_PRIVATE else theory
        statement = f"The type I error of the adaptively chosen test is at most {ALPHA:.0%}: {label}."
        words = {
            "reproduced": (
                f"{label}: in all {{n}} cells type I error is surely at most {ALPHA:.0%}{theory}; the most surely "
                f"large one is {{value}} ({where})."
            ),
            "differs": (
                f"{label}: type I error is surely above {ALPHA:.0%} in {{fails}} of {{n}} cells{theory}, most "
                f"surely {{value}} ({where})."
            ),
            "inconclusive": (
                f"{label}: type I error is surely above {ALPHA:.0%} in no cell, and surely at most that in "
                f"{{holds}} of {{n}}{theory}; the most surely large one is {{value}} ({where})."
            ),
        }
        yield found("tests", statement, parts, Region(-np.inf, ALPHA), words, parts[sure])


def _average(rows: pd.DataFrame, events: str) -> tuple[float, float, int]:
    """The mean over cells of a share, its standard error, and the fewest runs of a cell."""
    shares = rows[events] / rows["trials"]
    # One event more, so that a share of 0 or 1 has an error too.
    smoothed = (rows[events] + 1) / (rows["trials"] + 2)
    se = np.sqrt((smoothed * (1 - smoothed) / rows["trials"]).sum()) / len(rows)
    return shares.mean(), se, int(rows["trials"].min())


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
        words = {
            "reproduced": head
            + (
                f"Of those that hold their level by a theorem with the same users the {PROCEDURES[best]} rejects "
                f"most often, {{value}} above the {PROCEDURES[second]}"
            )
            + tail,
            "differs": head,
            "inconclusive": head
            + f"Between the {PROCEDURES[best]} and the {PROCEDURES[second]} it is not decided"
            + tail,
        }
        statement = f"At T = {int(horizon):,} one test that holds its level is more powerful than all others."
        yield found("tests", statement, [shown], Region(0.0, np.inf), words, shown)


def _max_information(tests: pd.DataFrame) -> Iterator[Finding]:
    rows = tests[tests["powers"].notna() & tests["claims"] & tests["procedure"].isin(["max_information", "e_value"])]
    together = max(len(rows.groupby(["horizon", "epsilon"])), 1)
    for horizon, part in rows.groupby("horizon", sort=True):
        parts, texts = [], []
        for epsilon, same in part.groupby("epsilon", sort=True):
            by = {n: _average(r, "powers") for n, r in same.groupby("procedure", sort=False)}
            if len(by) < 2:
                continue
            (a, se_a, _), (b, se_b, _) = by["max_information"], by["e_value"]
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
        words = {
            "reproduced": head + "The correction is surely not behind at any of these.",
            "differs": head + "The correction is surely behind at {fails} of {n} budgets, and surely ahead at {holds}.",
            "inconclusive": head + "The correction is surely behind at none, and surely ahead at {holds} of {n}.",
        }
        statement = f"At T = {int(horizon):,} the max-information correction is as powerful as an e-value."
        yield found("tests", statement, parts, Region(0.0, np.inf), words, min(parts, key=lambda m: m.value))


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
            words = {
                "reproduced": (
                    f"{label}, {of}: coverage is surely 95% or more in all {{n}} cells; the most surely low one "
                    f"is {{value}} ({where})."
                ),
                "differs": (
                    f"{label}, {of}: coverage is surely below 95% in {{fails}} of {{n}} cells, most surely "
                    f"{{value}} ({where})."
                ),
                "inconclusive": (
                    f"{label}, {of}: coverage is surely below 95% in no cell, and surely 95% or more in {{holds}} "
                    f"of {{n}}; the most surely low one is {{value}} ({where})."
                ),
            }
            yield found("intervals", statement, parts, Region(0.95, np.inf), words, parts[sure])


def _widths(runs: pd.DataFrame, tests: pd.DataFrame, privacy: pd.DataFrame) -> Iterator[Finding]:
    rows = tests[tests["procedure"] == "confidence_sequence"]
    uniform = rows[(rows["policy"] == "uniform")].set_index(["instance", "horizon", "K"])
    chosen = []
    for (K, horizon, epsilon), part in _advice.candidates(runs, privacy).groupby(_advice.SETTING, sort=True):
        best, _ = _advice.take(part)
        own = rows[(rows["curve"] == best) & (rows["horizon"] == horizon) & (rows["K"] == K)]
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
    most = max(range(len(parts)), key=lambda i: parts[i].low)
    median = float(np.median([p.value for p in parts]))
    statement = "Little regret costs width: the interval of the gap is wider than after uniform choices."
    head = (
        f"After the policy to be taken the always-valid interval of the gap is, in the median, {median:.2f} times "
        f"as wide as after uniform choices: surely wider in {{holds}} of {{n}} cells, surely narrower in "
        f"{{fails}}, most surely wider {{value}} times ({place(chosen[most][0])})."
    )
    words = {"reproduced": head, "differs": head, "inconclusive": head}
    yield found("intervals", statement, parts, Region(1.0, np.inf), words, parts[most])


def _audits(privacy: pd.DataFrame) -> Iterator[Finding]:
    rows = privacy[privacy["claims"]]
    audited = rows[rows["audited"] > 0]
    names = [
        f"{r['policy'].replace('_', ' ')}{' ' + r['variant'].replace('_', ' ') if r['variant'] else ''}"
        for _, r in rows.iterrows()
    ]
    names = dict(zip(rows.index, names, strict=True))
    over = audited[(audited["exact"] > 1 + ROUNDING) | (audited["lower_bound"] > 1)]
    each = "; ".join(
        f"{names[i]} {r['exact']:.3f}" if r["exact"] == r["exact"] else f"{names[i]} at least {r['lower_bound']:.3f}"
        for i, r in audited.iterrows()
    )
    missing = ", ".join(names[i] for i in rows.index if rows["audited"][i] == 0) or "none"
    more = ", ".join(names[i] for i in over.index) or "none"
    sentence = (
        f"Of {len(audited)} audited policies {len(over)} give away more than they claim ({more}); of the others no "
        f"audit proves that they do not. What the audited event shows, over the claim: {each}. Without an audit: "
        f"{missing}."
    )
    verdict = "does not hold" if len(over) else "not decided" if len(audited) < len(rows) else "holds"
    counts = len(audited) - len(over), len(over), len(rows) - len(audited)
    values = audited[["exact", "lower_bound"]].max(axis=1)
    largest = float(values.max()) if len(values) else np.nan
    yield Finding(
        "privacy",
        verdict,
        sentence,
        "No audit shows that a policy gives away more than it claims.",
        *counts,
        largest,
        np.nan,
        np.nan,
    )


# Local privacy


def _named(row) -> str:
    return f"{row['curve']}, {row['instance']}, n = {int(row['horizon']):,}, epsilon = {row['epsilon']:g}"


def _noisy_and_not(rows: pd.DataFrame):
    """Pairs of cells, alike but for the deviation `noise`: with noise from every user, and without."""
    if "deviation" not in rows:
        return
    released = rows[(rows["policy"] == "ldp_mab") & (rows["variant"] == "as_released")]
    plain = released[released["deviation"].fillna("") == ""].set_index(["instance", "horizon", "epsilon"])
    for _, row in released[released["deviation"].fillna("") == "noise"].iterrows():
        key = row["instance"], row["horizon"], row["epsilon"]
        if key in plain.index:
            yield row, plain.loc[key]


def locally(rows: pd.DataFrame) -> Iterator[Finding]:
    """All sentences about local privacy."""
    yield from _noise_of_all(rows)
    yield from _better_than_uniform(rows)
    yield from _radii(rows)
    yield from _best_arm_lost(rows)
    yield from _messages(rows)
    yield from _adult(rows)


def _noise_of_all(rows: pd.DataFrame) -> Iterator[Finding]:
    pairs = list(_noisy_and_not(rows))
    parts = []
    for noisy, plain in pairs:
        ratio = _advice.over(_runs(noisy), _runs(plain))
        parts.append(of_several(ratio.value, ratio.se, ratio.replicates, len(pairs)))
    if not parts:
        return
    most = max(range(len(parts)), key=lambda i: parts[i].low)
    statement = "The noise from every user, without which no context is private, costs the released program regret."
    head = (
        f"With noise from every user the released program's regret is surely larger in {{holds}} of {{n}} cells, "
        f"surely smaller in {{fails}}; most surely {{value}} times ({_named(pairs[most][0])})."
    )
    yield found(
        "local regret",
        statement,
        parts,
        Region(1.0, np.inf),
        dict.fromkeys(("reproduced", "differs", "inconclusive"), head),
        parts[most],
    )


def _runs(row) -> dict:
    return {"regret": row["regret"], "se": row["regret_se"], "replicates": row["replicates"]}


def _better_than_uniform(rows: pd.DataFrame) -> Iterator[Finding]:
    rows = rows[rows["of_uniform"].notna()]
    # Of what is private: the released program without the deviation is not.
    bare = (rows["policy"] == "ldp_mab") & (rows["variant"] == "as_released")
    bare &= rows["deviation"].fillna("") == "" if "deviation" in rows else True
    rows = rows[~bare]
    for (instance, horizon), part in rows.groupby(["instance", "horizon"], sort=False):
        parts, texts = [], []
        for epsilon, same in part.groupby("epsilon", sort=True):
            best = same.loc[same["of_uniform"].idxmin()]
            parts.append(of_several(best["of_uniform"], best["of_uniform_se"], best["replicates"], len(rows)))
            texts.append(f"{epsilon:g}: {_shown(parts[-1])} ({best['curve']})")
        head = (
            f"On {instance} with {int(horizon):,} users the least regret of a locally private method, as a share "
            f"of that of uniform choices, is by epsilon {'; '.join(texts)}: "
        )
        words = {
            "reproduced": head + "surely below half at each.",
            "differs": head + "surely above half at {fails} of {n} budgets, surely below at {holds}.",
            "inconclusive": head + "surely below half at {holds} of {n} budgets, surely above at none.",
        }
        statement = (
            f"On {instance} with {int(horizon):,} users a locally private method halves the regret of uniform choices."
        )
        yield found("local regret", statement, parts, Region(-np.inf, HALF), words, max(parts, key=lambda m: m.value))


def _radii(rows: pd.DataFrame) -> Iterator[Finding]:
    for curve, part in rows[rows["missed"].notna()].groupby("curve", sort=False):
        parts = [of_several(r["missed"], r["missed_se"], r["replicates"], len(rows)) for _, r in part.iterrows()]
        sure = max(range(len(parts)), key=lambda i: (parts[i].low, parts[i].value))
        where = _named(part.iloc[sure])
        statement = f"An estimate is farther from its expectation than its radius in at most 5% of looks: {curve}."
        words = {
            "reproduced": (
                f"{curve}: the radius is missed in surely at most 5% of looks in all {{n}} cells; the largest "
                f"share is {{value}} ({where})."
            ),
            "differs": (
                f"{curve}: the radius is missed in surely more than 5% of looks in {{fails}} of {{n}} cells, most "
                f"of all {{value}} ({where})."
            ),
            "inconclusive": (
                f"{curve}: the radius is missed in surely more than 5% of looks in no cell, and in surely fewer in "
                f"{{holds}} of {{n}}; the largest share is {{value}} ({where})."
            ),
        }
        yield found("local validity", statement, parts, Region(-np.inf, 0.05), words, parts[sure])


def _best_arm_lost(rows: pd.DataFrame) -> Iterator[Finding]:
    for curve, part in rows[rows["lost"].notna()].groupby("curve", sort=False):
        parts = [of_several(r["lost"], r["lost_se"], r["replicates"], len(rows)) for _, r in part.iterrows()]
        sure = max(range(len(parts)), key=lambda i: (parts[i].low, parts[i].value))
        row = part.iloc[sure]
        wrong = (
            f"; of all removals there {row['wrong']:.1%} took out the best arm" if row["wrong"] == row["wrong"] else ""
        )
        none = part["removals"].max() == 0
        statement = f"At most 5% of users have lost their best arm at the end: {curve}."
        head = (
            f"{curve}: no arm is taken out of any bin."
            if none
            else (
                f"{curve}: the share of users whose best arm is gone at the end is surely at most 5% in {{holds}} "
                f"of {{n}} cells and surely above in {{fails}}; the largest is {{value}} ({_named(row)}){wrong}."
            )
        )
        yield found(
            "local validity",
            statement,
            parts,
            Region(-np.inf, 0.05),
            dict.fromkeys(("reproduced", "differs", "inconclusive"), head),
            parts[sure],
        )


def _messages(rows: pd.DataFrame) -> Iterator[Finding]:
    for curve, part in rows[rows["in_parts"].notna()].groupby("curve", sort=False):
        parts = [of_several(r["in_parts"], r["in_parts_se"], r["replicates"], len(rows)) for _, r in part.iterrows()]
        most = max(range(len(parts)), key=lambda i: parts[i].value)
        row = part.iloc[most]
        statement = f"No user's message names a part of the cube without noise: {curve}."
        none = part["in_parts"].max() == 0
        head = (
            f"{curve}: noise comes from every user, and no message names a bin."
            if none
            else (
                f"{curve}: messages of up to {{value}} of the users name the part of the cube that they are in, "
                f"whatever epsilon is ({_named(row)}); {row['alone']:.1%} of the users there change a bin's sums "
                "alone in their batch."
            )
        )
        yield found(
            "local privacy",
            statement,
            parts,
            Region(-np.inf, 0.0),
            dict.fromkeys(("reproduced", "differs", "inconclusive"), head),
            parts[most],
        )


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
        words = {
            "reproduced": head + "surely more at every budget.",
            "differs": head + "surely more at {holds} of {n} budgets and surely less at {fails}.",
            "inconclusive": head + "surely more at {holds} of {n} budgets and surely less at none.",
        }
        statement = f"On {instance} a locally private method earns more than the best arm for everybody."
        yield found("local regret", statement, parts, Region(0.0, np.inf), words, max(parts, key=lambda m: m.value))


def table(findings: Sequence[Finding]) -> pd.DataFrame:
    """A row per finding; counts are empty where nothing was counted."""
    return pd.DataFrame(findings, columns=Finding._fields)
