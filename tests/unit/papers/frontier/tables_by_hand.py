"""Results on handmade tables."""

from functools import partial

import pandas as pd

from .. import chosen

INSTANCES = pd.DataFrame(
    {"instance": ["mu2"], "mean1": [0.75], "mean2": [0.625], "mean3": [0.5], "mean4": [0.375], "mean5": [0.25]}
)
CELL = {"variant": None, "data": "simulated", "environment": "bernoulli", "horizon": 100, "K": 5, "top": 0.75}
CELL |= {"bottom": 0.25, "spacing": "linear", "epsilon": 0.5, "ratio": None, "first": None, "width": None}
CELL |= {"alpha": None, "panels": "mu2"}
results = partial(chosen.results, published={"regime_epsilon": 0.3}, tables={"instances": INSTANCES})


def summaries(*cells, runs=4, t=(100,)):
    """Return rows of a study's cell summaries: cells c0, c1, ... at the rounds t."""
    measured = {"replicates": runs, "regret_mean": 10.0, "regret_se": 1.0}
    return [CELL | {"cell": f"c{i}"} | cell | {"t": one} | measured for i, cell in enumerate(cells) for one in t]


def runs(*regrets, horizon=100):
    """Return rows of a study's replicates: the regret of each run of cells c0, c1, ..."""
    return [
        {"cell": f"c{i}", "horizon": horizon, "t": horizon, "replicate": r, "regret": float(one)}
        for i, of_cell in enumerate(regrets)
        for r, one in enumerate(of_cell)
    ]
