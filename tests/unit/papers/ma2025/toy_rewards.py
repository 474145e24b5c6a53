"""Made-up rewards on a dataset `toy`, in the form of the studies of section 4.2."""

from functools import partial
from unittest import mock

import numpy as np
import pandas as pd

from privarms.inference.paired import ratio_of_means
from privarms.papers.ma2025 import inference_table2
from privarms.planning.results import Results
from tests.unit.conftest import write

RATES = {
    ("ldp_mab", "with"): 0.9,
    ("ldp_mab", "without"): 0.6,
    ("ldp_linear", "with"): 0.7,
    ("ldp_linear", "without"): 0.5,
    ("ldp_nn", "with"): 0.8,
    ("ldp_nn", "without"): 0.4,
}


def runs_of(
    method, auxiliary="with", epsilon=(1, 2), epsilon_aux=(1, 4), rate=None, replicates=15, tag="table2", **own
):
    """Return runs of a method: rewards are t times its rate, plus -1, 0 or 1 by replicate, at three times t.

    The times are horizon/4, 25 and horizon. Each parameter has a column. tag: of the grid; "" without one"""
    own = {"dataset": "toy", "data": "real", "horizon": 40, "environment": "labelled_users", "variant": None} | own
    if method == "ldp_mab" and own["variant"] is None:
        own["variant"] = "as_released"
    parts = []
    for e in epsilon:
        for x in epsilon_aux if auxiliary == "with" else (np.nan,):
            mean = RATES[method, auxiliary] if rate is None else rate
            # Only LDPMAB with auxiliary data depends on the budget.
            mean += 0.02 * e if rate is None and (method, auxiliary) == ("ldp_mab", "with") else 0
            row = {"policy": method, "epsilon": e, "epsilon_aux": x}
            row |= {"auxiliary": None if auxiliary == "with" else auxiliary} | own
            row |= {"cell": f"{tag}:{method}-{auxiliary}-{e}-{x}-{sorted(own.items(), key=str)}"}
            for t in (own["horizon"] // 4, 25, own["horizon"]):
                rewards = t * mean + np.arange(replicates) % 3 - 1
                parts.append(pd.DataFrame({**row, "t": t, "replicate": range(replicates), "reward": rewards}))
    return pd.concat(parts)


def usual(*more, printed=True, with_sources=True, **own):
    """Return runs of the three methods of Table 2, and more."""
    parts = [runs_of(m, a, **own) for m, a in RATES if with_sources or a == "without"]
    if printed:
        parts += [runs_of("ldp_mab", a, variant="as_printed", c=64, replicates=4, **own) for a in ("with", "without")]
    return pd.concat([*parts, *more], ignore_index=True)


def references(*more, dataset="toy", horizon=40):
    """Return runs of ABSE, at a rate of .75, and of uniform play, at .5; and more."""
    own = {"dataset": dataset, "data": "real", "environment": "classification", "variant": None, "horizon": horizon}
    parts = [
        pd.DataFrame(
            {
                **own,
                "policy": p,
                "cell": f"table2:{p}-{dataset}-{horizon}",
                "t": t,
                "replicate": [0, 1],
                "reward": t * r,
            }
        )
        for p, r in (("absse", 0.75), ("uniform", 0.5))
        for t in (horizon // 4, horizon)
    ]
    return pd.concat([*parts, *more], ignore_index=True)


def summarised(runs, se=None):
    """Return one row per cell and t, aggregated as in the library."""
    keys = [c for c in runs if c not in ("replicate", "reward")]
    actual = runs.groupby(keys, sort=False, dropna=False)["reward"].agg(["size", "mean", "sem"]).reset_index()
    actual = actual.rename(columns={"size": "replicates", "mean": "reward_mean", "sem": "reward_se"})
    actual = actual.assign(**{f"reward_p{q}": actual["reward_mean"] for q in ("05", "50", "95")}, reward_missing=0)
    return actual if se is None else actual.assign(reward_se=se)


def results(folder, published=(), facts=None, **studies):
    """Return results with these runs by study, read from files as in a job, and their inference tables."""
    files = {kind: [] for kind in ("studies", "cells", "inference")}

    def add(name, kind, frame):
        # As in a study, a single text turns the whole column into texts.
        texts = [c for c in frame if frame[c].map(lambda v: isinstance(v, str)).any()]
        frame = frame.assign(**{c: [v if pd.isna(v) else str(v) for v in frame[c]] for c in texts})
        files[kind].append(write(folder / f"{name}.parquet", frame))

    for study, runs in ({"real_data_reference": references()} | studies).items():
        add(study, "studies", runs)
        add(f"{study}_cells", "cells", summarised(runs, 0.1 if "reference" in study else None))
    facts = [folder / f"{dataset}.json" for dataset in facts or ()]
    cells = {cell for runs in (references(), *studies.values()) for cell in runs["cell"]}
    tags = {cell: [tag] for cell in cells if (tag := cell.rpartition(":")[0])}
    before = Results("ma2025", "quick", **{k: list(v) for k, v in files.items()}, published=published, tags=tags)
    wanted = {"table2": "real_data", "adult_alternatives": "adult_settings"}
    # Few resamples are enough, because no test checks the ends of an interval.
    with mock.patch.object(inference_table2, "ratio_of_means", partial(ratio_of_means, resamples=99)):
        for table, study in wanted.items():
            if study in studies:
                add(table, "inference", getattr(inference_table2, table)(before))
    return Results("ma2025", "quick", **files, facts=facts, published=published, tags=tags)
