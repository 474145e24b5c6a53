"""The inference tables: each function takes the results and returns a frame."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.audits.events import neighbouring_users
from privarms.audits.reduction import COUNTS, ENDS, reduce
from privarms.environments import exponential
from privarms.execution.streams import digest, stream
from privarms.inference.laplace_sums import log_miss_bound
from privarms.inference.rows import as_frame
from privarms.jit.cache import compiled
from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025.inference_contrasts import SIZES
from privarms.planning.results import Results
from privarms.protocols.locally_private import expected_rewards
from privarms.registry.artifacts import inference

# Confidence of each bound: forty bounds hold together with more than 95%.
CONFIDENCE = 0.999
DRAWN_SEED = 2025
SETTING = ["variant", "differ", "event", "batch", "epsilon"]
ARMS = 3


@inference(studies=["privacy"])
def privacy(results: Results) -> pd.DataFrame:
    """Return the privacy loss of a batch's sums about its last user, per variant, difference, event, batch and epsilon.

    exact: log ratio of the event's probabilities, inf if one is 0, nan if both are; lower_bound: on epsilon, from
    counts, -inf if the event was not seen; trials: with each of the users; loss: exact over epsilon, 0 for an event
    that is impossible with both users; cells: of the two users
    """
    runs = results.replicates("privacy")
    table = reduce(runs[runs["policy"] == panels.POLICY], neighbouring_users.AUDIT, SETTING, CONFIDENCE)
    # Sums have many terms: a loss of exactly epsilon is rounded.
    table = table.assign(loss=(table["exact"] / table["epsilon"]).fillna(0).round(9))
    return table.drop(columns=["audit", "subject", "claimed", *ENDS, *COUNTS])


@inference(studies=["eliminations"])
@as_frame
def eliminations(results: Results) -> Iterator[dict]:
    """Return the arms that each cell of study `eliminations` removes, and the share of best arms in the bin's middle.

    removed: arms removed in bins per run; wrong, wrong_se: the share of them that was the best; source_wrong,
    source_wrong_se: wrong ones per run while the sources streamed; lost, lost_se: the probability that a context has
    lost its best arm; looks, misses: evaluations of estimates in all runs, and those that find an estimate outside its
    radius; missed: the runs with a miss
    """
    output = panels.named(results.cells("eliminations"))
    output = output.sort_values(["variant", "c", "epsilon", "n_aux", "epsilon_aux", "order", "n"], kind="stable")
    runs = dict(list(results.replicates("eliminations").groupby("cell", observed=True)))
    settings = [c for c in (*panels.ALGORITHM, "also", *panels.AXES, "batch", "panels") if c in output]
    for _, cell in output.iterrows():
        group = runs[cell["cell"]]
        removed, wrong = group["eliminations"].to_numpy(float), group["wrong"].to_numpy(float)
        share = wrong.sum() / removed.sum() if removed.sum() else np.nan
        # Runs are independent, removals within a run are not.
        n = len(group)
        several = removed.sum() and n > 1
        se = np.sqrt(((wrong - share * removed) ** 2).sum() * n / (n - 1)) / removed.sum() if several else np.nan
        means = {"lost": group["lost"], "source_wrong": group["auxiliary_wrong"]}
        yield {
            "cell": cell["cell"],
            **{c: cell[c] for c in settings},
            "replicates": n,
            "removed": removed.mean(),
            "wrong": share,
            "wrong_se": se,
            **{name: values.mean() for name, values in means.items()},
            **{f"{name}_se": values.std(ddof=1) / np.sqrt(n) for name, values in means.items()},
            "looks": int(group["looks"].sum()),
            "misses": int(group["misses"].sum()),
            "missed": int((group["misses"] > 0).sum()),
        }


@inference(studies=["illustration_curves"])
def illustrated(results: Results) -> pd.DataFrame:
    """Return the first run of each cell of study `illustration_curves`, which Figure 6 shows next to the means.

    share, local_regret: of arms that are drawn at the test point user by user, as in the text; the study has their
    expectations. Arms are drawn uniformly among those that are left there; runs with another choice stay unchanged.
    """
    columns = ("cell", "t", "arm", "regret", "local_regret", "share", "eliminated_after")
    runs = results.replicates("illustration_curves", columns, (("replicate", "==", 0),)).astype({"cell": str})
    cells = results.cells("illustration_curves").drop_duplicates("cell").set_index("cell")
    variants = cells["variant"].to_dict()
    parts = [_drawn(run, variants[cell]) for cell, run in runs.groupby("cell", sort=False)]
    return pd.concat(parts, ignore_index=True)


def _drawn(run: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Draw the arms of one run at the test point, on a stream of its own."""
    t, arms = run["t"].unique(), run["arm"].nunique()
    left = ~(np.arange(t[-1])[:, None] >= run["eliminated_after"].to_numpy(float)[:arms])
    chances = (left / np.maximum(left.sum(axis=1, keepdims=True), 1)).cumsum(axis=0)[t - 1] / t[:, None]
    if not np.allclose(chances, run["share"].to_numpy().reshape(chances.shape)):
        return run
    environment = exponential.configure(arms, variant)
    means = compiled(expected_rewards)(environment, np.full((1, environment.dimensions), environment.point))[0]
    numbers = stream(DRAWN_SEED, digest({"cell": run["cell"].iloc[0]}), 0).random(left.shape)
    drawn = np.arange(arms) == (numbers * left).argmax(axis=1)[:, None]
    counts = drawn.cumsum(axis=0)[t - 1]
    return run.assign(share=(counts / t[:, None]).ravel(), local_regret=np.repeat(counts @ (means.max() - means), arms))


@inference(studies=["partitions"])
def partitions(results: Results) -> pd.DataFrame:
    """Return the runs of Figures 2 and 3, one per cell."""
    return results.replicates("partitions")


@inference(studies=["eliminations"])
@as_frame
def radius(results: Results) -> Iterator[dict]:
    """Return how often an estimate without sources leaves its radius (14), a row per algorithm of study `eliminations`.

    missed, missed_events, missed_trials: share of runs in which any estimate is outside at any look, and both counts.
    The text's c = 640 also has a row `proof`: the largest bound of `laplace_sums` over the n of Figure 7, with up to n
    bins and epsilon up to 1. limit: 1/n^2; over_limit: the bound times n^2
    """
    cells = panels.named(results.cells("eliminations"))
    # The radius with sources is (28), about which the proposition says nothing.
    alone = (cells["n_aux"] == 0) & (cells["also"] == "") & (cells["deviation"] == "")
    cells = cells[alone & (cells["variant"] == "as_printed")]
    cells = cells.assign(cell=cells["cell"].astype(str))
    runs = results.replicates("eliminations", ("cell", "misses")).astype({"cell": str})
    runs = runs.merge(cells[["cell", "c", "n"]], on="cell")
    for c, some in runs.groupby("c"):
        missed, trials = int((some["misses"] > 0).sum()), len(some)
        about = {"variant": "as_printed", "algorithm": f"text with c = {c:g}", "by": "runs", "runs": trials}
        counts = {"missed": missed / trials, "missed_events": missed, "missed_trials": trials}
        yield about | counts | {"n": int(some["n"].max()), "cells": " ".join(some["cell"].unique())}
    bounds = {n: log_miss_bound(640, n, ARMS) for n in SIZES["as_released"]}
    worst = max(bounds, key=lambda n: bounds[n] + 2 * math.log(n))
    yield {"variant": "as_printed", "algorithm": "text with c = 640", "by": "proof", "missed": math.exp(bounds[worst]),
           "missed_low": 0.0, "missed_high": math.exp(bounds[worst]), "n": worst, "cells": ""}  # fmt: skip


@inference(studies=["regret", "regret_printed"])
@as_frame
def authors_logs(results: Results) -> Iterator[dict]:
    """Return statistics of the authors' logs: the fewest runs of a cell, and how far our regret as released is off.

    mean, spread: mean and standard deviation of the z-scores of `panels.agreement`; runs: the cells of the logs
    """
    fewest = float(panels.logs(results)["replicates"].min())
    exact = {"value": fewest, "value_low": fewest, "value_high": fewest, "cells": ""}
    yield {"statistic": "runs", "figures": "drawn from the released logs"} | exact
    yield {"statistic": "runs", "figures": "drawn from other runs", "value": math.nan, "cells": ""}
    z = panels.agreement(results)["z"].dropna()
    n = max(len(z), 2)
    for name, value, se in (("mean", z.mean(), n**-0.5), ("spread", z.std(), (2 * (n - 1)) ** -0.5)):
        yield {"statistic": name, "value": value, "value_se": se, "runs": len(z), "cells": ""}
