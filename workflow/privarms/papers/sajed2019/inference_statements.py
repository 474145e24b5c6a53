"""Inference tables that only statements use: one row per case or instance, with `runs` and `cells`."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.inference.rows import as_frame
from privarms.ledger import contrasts
from privarms.papers.sajed2019 import inference as tables
from privarms.papers.sajed2019._rows import exponents, regret_error, share_over, stopping_error, used
from privarms.papers.sajed2019._settings import at_horizon
from privarms.planning.results import Results
from privarms.registry.artifacts import inference
from privarms.registry.modules import EnvironmentModule

FIGURE_1 = "Figure 1 only"
# The ends of Figure 1's range of epsilon.
EFFECT = (0.1, 1.0)
STOPPING = ("stopping", "noise_alone", "other_range", "large_mean")
# Mean regret of the first policy over that of the second, both without privacy.
WITHOUT_PRIVACY = (
    *(("ucb1", "epoch_se"), ("ucb1", "successive_elimination"), ("successive_elimination", "ucb1")),
    ("epoch_se", "successive_elimination"),
)


def _around(cells: pd.DataFrame) -> list[str]:
    """Return the parameters of the cells' environments, and the horizon."""
    names = [k for e in cells["environment"].unique() for k in EnvironmentModule(e).arguments]
    return [k for k in dict.fromkeys(("environment", *names, "horizon")) if k in cells]


def _of_dp_ucb(results: Results) -> pd.DataFrame:
    rows = tables.ratios(results)
    rows = rows[rows["policy"] == "dp_ucb"]
    filled = {k: rows[k].fillna(v) if k in rows else v for k, v in (("counter", "dyadic"), ("spacing", "linear"))}
    return rows.assign(**filled)


@inference(studies=tables.COMPARED)
@as_frame
def five_times(results: Results) -> Iterator[pd.DataFrame]:
    """Return DP-UCB's mean regret over DP-SE's (ratio, ratio_se); one row per assumption on the settings and cell.

    settings: the settings of the comparison; each assumption contains those of Figure 1. The printed counter ran only
    there. counter: dyadic, or path, the printed one; spacing: linear is mu2 of Azize and Basu 2022, one_best, convex
    and concave are mu1, mu3 and mu4; at other K than 5 these three are our continuation
    """
    rows = _of_dp_ucb(results)
    of_five, linear = rows["K"] == 5, rows["spacing"] == "linear"
    columns = ["width", "counter", "spacing", "K", "epsilon", "ratio", "ratio_se", "runs", "cells"]
    columns += ["regret_largest_share"]
    for settings, chosen in {
        FIGURE_1: of_five & linear,
        "linear means for K from 3 to 20": linear,
        "mu1 to mu4 of Azize and Basu": of_five,
        "shapes of mu1 to mu4 for other K": ~of_five | linear & of_five,
    }.items():
        wanted = chosen & ((rows["counter"] == "dyadic") | (settings == FIGURE_1))
        yield rows.loc[wanted, columns].assign(settings=settings)


@inference(studies=tables.COMPARED)
@as_frame
def epsilon_effect(results: Results) -> Iterator[pd.DataFrame]:
    """Return the effect of epsilon on DP-UCB over that on DP-SE, in Figure 1; one row per width, counter and effect.

    effect: the factor by which mean regret falls from epsilon = 0.1 to 1, or the difference; ratio, ratio_se: DP-UCB's
    over DP-SE's
    """
    rows = _of_dp_ucb(results)
    rows = rows[(rows["K"] == 5) & (rows["spacing"] == "linear")]
    keys = ["width", "counter"]
    ends = [rows[rows["epsilon"] == e] for e in EFFECT]
    both = ends[0].merge(ends[1], on=keys, suffixes=("", "_at_1"))
    shared = both[keys].assign(
        runs=both[["runs", "runs_at_1"]].min(axis="columns"), cells=both["cells"] + " " + both["cells_at_1"]
    )
    factor = both["ratio"] / both["ratio_at_1"]
    error = factor * np.hypot(both["ratio_se"] / both["ratio"], both["ratio_se_at_1"] / both["ratio_at_1"])
    yield shared.assign(effect="factor", ratio=factor, ratio_se=error)
    above, below = (both[f"regret_mean{p}"] - both[f"regret_mean{p}_at_1"] for p in ("", "_dp_se"))
    errors = (np.hypot(both[f"regret_se{p}"], both[f"regret_se{p}_at_1"]) for p in ("", "_dp_se"))
    parts = [(error / value) ** 2 for error, value in zip(errors, (above, below), strict=True)]
    ratio = above / below
    yield shared.assign(effect="difference", ratio=ratio, ratio_se=abs(ratio) * np.sqrt(sum(parts)))


@inference(studies=["regret"])
@as_frame
def without_privacy(results: Results) -> Iterator[pd.DataFrame]:
    """Return ratios of mean regrets of policies without privacy in study `regret`; one row per pair in a setting."""
    cells = at_horizon(results.cells("regret"))
    for policy, over in WITHOUT_PRIVACY:
        tops, bottoms = cells[cells["policy"] == policy], cells[cells["policy"] == over]
        rows = contrasts.ratios(tops, bottoms, "regret", _around(cells))
        yield rows[["policy", "ratio", "ratio_se", "runs", "cells"]].assign(over=over)


@inference(studies=["scaling"])
def added_regret(results: Results) -> pd.DataFrame:
    """Return DP-SE's mean regret minus that of Algorithm 3 without noise, over K ln(T)/epsilon (added, added_se).

    One row per cell of study `scaling` with both.
    """
    cells = at_horizon(results.cells("scaling"))
    cells = cells.assign(regret_se=regret_error(cells))
    tops, bottoms = cells[cells["policy"] == "dp_se"], cells[cells["policy"] == "epoch_se"]
    rows = contrasts.differences(tops, bottoms, "regret", _around(cells), name="added")
    return _over_private_order(rows)[["K", "epsilon", "horizon", "added", "added_se", "runs", "cells"]]


def _over_private_order(rows: pd.DataFrame) -> pd.DataFrame:
    order = rows["K"] * np.log(rows["horizon"]) / rows["epsilon"]
    return rows.assign(added=rows["added"] / order, added_se=rows["added_se"] / order)


@inference(studies=["shrinking_gaps"])
@as_frame
def shrinking_gaps(results: Results) -> Iterator[pd.DataFrame]:
    """Return how DP-UCB's added regret over K ln(T)/epsilon grows, if all gaps are T^-0.1; one row per width and pair.

    added regret: DP-UCB's mean regret minus UCB1's; exponent, exponent_se: p for which the quotient grows like ln(T)^p
    """
    cells = at_horizon(results.cells("shrinking_gaps"))
    tops, bottoms = cells[cells["policy"] == "dp_ucb"], cells[cells["policy"] == "ucb1"]
    rows = _over_private_order(contrasts.differences(tops, bottoms, "regret", _around(cells), name="added"))
    rows = rows.assign(cell=rows["cells"], replicates=rows["runs"], added_mean=rows["added"])
    yield from exponents(rows, "added", ["width", "K", "epsilon"])


@inference(studies=["minimax_gap"])
def minimax_gap(results: Results) -> pd.DataFrame:
    """Return mean regret over sqrt(K T ln T) in study `minimax_gap`, with gaps sqrt(K ln(T) / T); one row per cell."""
    cells = at_horizon(results.cells("minimax_gap"))
    order = np.sqrt(cells["K"] * cells["horizon"] * np.log(cells["horizon"]))
    values = {"ratio": cells["regret_mean"] / order, "ratio_se": cells["regret_se"] / order}
    return cells[["policy", "K", "horizon"]].assign(**values, **used(cells))


@inference(studies=["stopping"])
def doubling(results: Results) -> pd.DataFrame:
    """Return Algorithm 2's mean stopping time over Algorithm 1's; one row per setting of study `stopping`."""
    cells = results.cells("stopping")
    cells = cells.assign(stopping_time_se=stopping_error(cells))
    tops, bottoms = cells[cells["policy"] == "dp_exponential_nas"], cells[cells["policy"] == "dp_nas"]
    setting = ["alpha", "beta", "epsilon", "mu", "R"]
    return contrasts.ratios(tops, bottoms, "stopping_time", setting)[[*setting, "ratio", "ratio_se", "runs", "cells"]]


@inference(studies=STOPPING)
@as_frame
def stopping_theorems(results: Results) -> Iterator[dict]:
    """Return the theorems of section 3 in all studies of stopping rules; one row per cell.

    failure: share of runs whose estimate misses mu by alpha |mu| or more, over beta
    late: share of Algorithm 2's runs that do not halt by t_U of Theorem 3.3, over beta; nan outside of its conditions
    beyond: share of runs that see more than n samples, with n of the proof of Theorem 3.4
    quartile: the number that a quarter of the runs exceed, over the largest n for which this proof gives a quarter
    private, order: mean stopping time over R ln(1/beta)/(epsilon alpha |mu|), and over Corollary 3.6's expression
    """
    for study in STOPPING:
        cells = tables.stopping(results, study)
        runs, beta, scale = cells["replicates"], cells["beta"], 12 * cells["t_lower"]
        missing = cells["by_upper"].isna() | (cells["policy"] != "dp_exponential_nas")
        late = share_over("late", ((1 - cells["by_upper"]) * runs).where(~missing, 0), runs, beta)
        mean, error = cells["stopping_time_mean"], stopping_error(cells)
        beyond = ((1 - cells["by_lower"]) * runs).round()
        ends = {"": "upper_quartile", "_low": "quartile_low", "_high": "quartile_high"}
        yield cells[["policy", "alpha", "mu", "epsilon", "beta", "R"]].assign(
            study=study,
            **share_over("failure", cells["failure_mean"] * runs, runs, beta),
            **{name: np.where(missing, np.nan, share) for name, share in late.items()},
            **{"beyond": beyond / runs, "beyond_events": beyond, "beyond_trials": runs.where(beyond.notna())},
            **{f"quartile{end}": cells[name] / cells["t_proof"] for end, name in ends.items()},
            **{"private": mean / scale, "private_se": error / scale},
            **{"order": mean / cells["order"], "order_se": error / cells["order"]},
            **used(cells),
        )


@inference(studies=["audit", "audit_dp_nas", "audit_dp_exponential_nas", "audit_dp_ucb"])
@as_frame
def privacy(results: Results) -> Iterator[dict]:
    """Return privacy losses of audited events over the promised epsilon; one row per setting and evidence.

    evidence: formula, the exact log ratio of the event's probabilities, or simulation, that of its counts with an
    interval; loss is rounded to nine digits, because a loss of epsilon itself is no violation
    """
    for of in (tables.audit, tables.audit_dp_nas, tables.audit_dp_exponential_nas, tables.audit_dp_ucb):
        rows = of(results)
        setting = [k for k in ("subject", "width", "epsilon", "noise", "cells") if k in rows]
        ends = {"loss": "loss", "loss_low": "loss_low", "loss_high": "loss_high"}
        for evidence, names in (("formula", dict.fromkeys(ends, "exact")), ("simulation", ends)):
            over = {end: (rows[name] / rows["claimed"]).round(9) for end, name in names.items()}
            runs = rows["trials"] if evidence == "simulation" else np.nan
            yield rows[setting].assign(evidence=evidence, **over, runs=runs)
