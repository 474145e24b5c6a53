"""`privarms compare FOLDER`: rank your own bandits among published private bandits on five instances."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privarms.audits import verdicts
from privarms.cli import audit_now, interactive
from privarms.errors import PrivarmsError
from privarms.inference import lower_bounds
from privarms.plots import facets, style
from privarms.plots.curves import interval
from privarms.ranges import at_least, positive
from privarms.registry import extensions, library
from privarms.registry.extensions import is_extension

# Bernoulli arms of Azize and Basu (2022), section 5, and Azize et al. (2025).
INSTANCES = {
    "mu1": {"top": 0.75, "bottom": 0.7, "spacing": "one_best"},
    "mu2": {"top": 0.75, "bottom": 0.25, "spacing": "linear"},
    "mu3": {"top": 0.75, "bottom": 0.25, "spacing": "convex"},
    "mu4": {"top": 0.75, "bottom": 0.25, "spacing": "concave"},
    "mu5": {"top": 0.8, "bottom": 0.1, "spacing": "one_best"},
}
K = 5
GIVEN = ("K", "horizon", "epsilon")
# Published policies that need more parameters. DP-UCB with the exact quantile of its noise is the best of its widths.
SETTINGS: dict[str, dict[str, Any]] = {"dp_ucb": {"width": "exact"}}


def compare(folder: str | Path, *, epsilon: float, horizon: int, replicates: int, trials: int) -> pd.DataFrame:
    """Return one row per instance and policy, sorted by mean regret.

    It compares the bandits in `policies/bandit/` of a folder with the published private bandits that need no further
    parameter. trials: per neighbouring input, in each audit. The folder's policies get the audit that fits any bandit.
    Published ones get their own audits, some with a multiple of the trials.

    `low` and `high` are the ends of the 95% interval of `regret`. `over_bound` is regret over the lower bound of Azize
    et al. (2025), Theorem 1, times ln T. `difference` is from the best published policy; runs of different policies are
    independent. `mean_rank` is over the instances. `audit` is the verdict on the policy's privacy, `audit_note` says
    which audit ran in which setting, what it changed, and how likely it detects half of the noise.

    Raises PrivarmsError for a folder without such a bandit.
    """
    at_least(2, replicates=replicates)
    at_least(1, horizon=horizon, trials=trials)
    positive(epsilon=epsilon)
    extensions.extend([folder])
    policies = [p for p in library.names("policies") if library.family(p) == "bandit" and _needs_nothing(p)]
    theirs = [p for p in library.names("policies") if is_extension(library.source_file("policies", p))]
    if others := [p for p in theirs if p not in policies]:
        print(f"not compared, because they are no bandits or need parameters: {', '.join(others)}", file=sys.stderr)
    if not (own := [p for p in theirs if p in policies]):
        expected = f"expected a module in policies/bandit/ whose configure needs at most {', '.join(GIVEN)}"
        raise PrivarmsError(f"{folder}: {expected}; found none")
    policies = [p for p in policies if p in own or library.claims_epsilon(p)]
    audits = pd.DataFrame({p: _audited(p, p in own, epsilon, trials) for p in policies}).T
    parts = [
        part.assign(instance=name, own=part["policy"].isin(own)).join(audits, on="policy")
        for name, arms in INSTANCES.items()
        for part in [_ranked(policies, own, {"K": K, "epsilon": epsilon, "horizon": horizon, **arms}, replicates)]
    ]
    rows = pd.concat(parts, ignore_index=True)
    rows["mean_rank"] = rows.groupby("policy")["rank"].transform("mean")
    columns = ["instance", "rank", "policy", "own", "regret", "low", "high", "over_bound", "difference"]
    return rows[[*columns, "difference_low", "difference_high", "mean_rank", "audit", "audit_note"]]


def _needs_nothing(policy: str) -> bool:
    known = (*GIVEN, *SETTINGS.get(policy, ()))
    return all(name in known for name, a in library.arguments("policies", policy).items() if a.required)


def _audited(policy: str, own: bool, epsilon: float, trials: int) -> dict[str, str]:
    """Return the columns `audit` and `audit_note` of a policy; a remark for one without an epsilon."""
    if not library.claims_epsilon(policy):
        return {"audit": "claims no privacy", "audit_note": ""}
    cells = (audit_now.fitting_cells if own else audit_now.own_cells)(policy, trials, epsilon)
    print(f"audit of {policy}: {cells[0].replicates:,} trials per input", file=sys.stderr, flush=True)
    line = verdicts.summary(audit_now.results(cells)).iloc[0]
    return {"audit": line["verdict"], "audit_note": f"Audit {line['audit']} with {line['setting']}. {line['note']}"}


def _ranked(policies: list[str], own: list[str], setting: dict, replicates: int) -> pd.DataFrame:
    """Return one row per policy on one instance, sorted by mean regret."""
    horizon, epsilon = setting["horizon"], setting["epsilon"]
    means = library.load("environments", "bernoulli").configure(**{k: setting[k] for k in ("K", *INSTANCES["mu1"])})
    bound = lower_bounds.azize(means.means.tolist(), epsilon) * np.log(horizon)
    runs = {}
    print(f"simulate {len(policies)} policies, means {means.means.round(3).tolist()}", file=sys.stderr, flush=True)
    for policy in policies:
        rows = interactive.simulate(policy, replicates=replicates, checkpoints=1, **setting, **SETTINGS.get(policy, {}))
        runs[policy] = rows.sort_values("replicate")["regret"].to_numpy()
    published = [p for p in policies if p not in own]
    best = min(published, key=lambda p: runs[p].mean(), default=policies[0])
    rows = []
    for policy, regret in runs.items():
        # Rewards and choices share one random stream, so runs of two policies are independent, not paired.
        differences = regret - runs[best]
        numbers = {"policy": policy, "regret": regret.mean(), "over_bound": regret.mean() / bound}
        for names, sample in ((("low", "high"), regret), (("difference_low", "difference_high"), differences)):
            ends = interval(sample.mean(), sample.std(ddof=1) / np.sqrt(len(sample)), len(sample))
            numbers |= dict(zip(names, map(float, ends), strict=True))
        numbers["low"] = max(numbers["low"], 0.0)
        rows.append(numbers | {"difference": differences.mean()})
    frame = pd.DataFrame(rows).sort_values("regret", kind="stable", ignore_index=True)
    return frame.assign(rank=frame["regret"].rank(method="average"))


def draw(rows: pd.DataFrame) -> Figure:
    """Return a figure of regret divided by its lower bound, with one panel per instance and one line per policy."""
    order = rows.drop_duplicates("policy").sort_values("mean_rank", kind="stable")["policy"].tolist()
    scale = rows["over_bound"] / rows["regret"]
    shown = rows.assign(
        place=rows["policy"].map(order.index).astype(float),
        kind=np.where(rows["own"], "your own", "published"),
        low=(rows["low"] * scale).clip(lower=rows["over_bound"] / 20),  # the axis is logarithmic
        high=rows["high"] * scale,
    )
    looks = style.looks(["published", "your own"], ["published", "your own"])
    grid = facets.panels(shown, col="instance", hue="kind", looks=looks, wrap=5, log="x", height=0.3 * len(order) + 1)
    for ax, name, some in facets.parts(grid):
        facets.points(ax, some, "over_bound", "place", along="x", label=name, **looks[name])
        ax.axvline(1, **style.LEVEL)
    audits = dict(zip(rows["policy"], rows["audit"], strict=True))
    names = [f"{library.label(p)}{_remark(audits[p])}" for p in order]
    facets.name_lines(grid.axes.flat[0], names, fontsize=7)
    grid.set_axis_labels("regret / bound", "")
    style.legend(grid.figure)
    return grid.figure


def _remark(audit: str) -> str:
    return f"\n({audit})" if audit in (verdicts.NOT_PRIVATE, verdicts.NOT_AUDITED, verdicts.NOT_CAUGHT) else ""


def described(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines that the command prints: policies by mean rank, then the table of each instance."""
    first = rows.drop_duplicates("policy").sort_values("mean_rank", kind="stable")
    yield "mean rank, policy, audit:"
    yield from (f"  {r.mean_rank:4.1f}  {r.policy}  {r.audit}" for r in first.itertuples())
    yield "what the audits show:"
    yield from (f"  {r.policy}: {r.audit}. {r.audit_note}" for r in first.itertuples() if r.audit_note)
    for instance, some in rows.groupby("instance", sort=False):
        yield f"{instance}: rank, policy, regret [95% interval], times the lower bound, difference from the best:"
        for r in some.to_dict("records"):
            regret = f"{r['regret']:,.0f} {_ends(r['low'], r['high'])}"
            difference = f"{r['difference']:+,.0f} {_ends(r['difference_low'], r['difference_high'])}"
            difference = difference if r["difference"] else "the best published"
            yield f"  {r['rank']:4.1f}  {r['policy']}  {regret}  {r['over_bound']:.2f}  {difference}"


def _ends(low: float, high: float) -> str:
    return f"[{low:,.0f}, {high:,.0f}]" if low < high else "[all runs agree]"


def show(folder: Path, output: Path, *, epsilon: float, horizon: int, replicates: int, trials: int) -> int:
    """Compare, print, and write `output`.csv, .png, .pdf and .svg; return 1 if an own policy failed its audit."""
    rows = compare(folder, epsilon=epsilon, horizon=horizon, replicates=replicates, trials=trials)
    print("\n".join(described(rows)))
    style.use_style()
    files = style.save(draw(rows), rows, output)
    print(f"table: {files['csv']}\npicture: {files['png']}")
    return int((rows.loc[rows["own"], "audit"] == verdicts.NOT_PRIVATE).any())
