"""Small tables: a row a value, the columns that are not given as usual."""

import math
from pathlib import Path

import pandas as pd
import pyarrow as pa

from privarms.files import parquet
from privarms.studies.results import Results

PARETO = {
    "policy": "conse_se",
    "environment": "features_bernoulli",
    "arrivals": "stationary",
    "horizon": 20_000,
    "M": 2,
    "alpha": 0.0,
    "epsilon": math.nan,
    "replicates": 100,
    "regret": 50.0,
    "regret_se": 0.01,
    "first_half_regret": 30.0,
    "mse": 0.1,
    "mse_se": 0.0001,
    "eliminated_fraction": 1.0,
    "missing_fraction": 0.0,
    "T_min": 20.0,
    "product": 2.5,
    "expected_mse": 0.1,
    "expected_product": 2.5,
    "gap_sum": 0.8,
    "inverse_gap_sum": 5.0,
}
ELIMINATION = {
    "policy": "conse_se",
    "environment": "features_bernoulli",
    "arrivals": "stationary",
    "horizon": 20_000,
    "M": 10,
    "alpha": 1.0,
    "epsilon": math.nan,
    "replicates": 100,
    "eliminated_fraction": 1.0,
    "low": 0.9,
    "high": 1.0,
    "wrong": 0,
    "first_half_regret": 10.0,
    "first_half_se": 0.01,
    "worst_pulls": 50.0,
    "pulls_bound": 100.0,
    "over_bound": 0,
    "sure_pulls": 80.0,
    "over_sure": 0,
    "sure_regret": 20.0,
    "inverse_gap_sum": 5.0,
    "R_1": 1700.0,
    "constant": math.nan,
}
COVERAGE = {
    "policy": "conse_se",
    "environment": "features_bernoulli",
    "arrivals": "stationary",
    "horizon": 1_000_000,
    "M": 1,
    "alpha": 0.5,
    "epsilon": math.nan,
    "interval": "printed",
    "coverage": 0.95,
    "se": 0.001,
    "variance_ratio": 1.0,
    "variance_ratio_se": 0.01,
    "effect": 0.4,
    "bias": 0.0,
    "bias_se": 0.01,
    "ks": 0.01,
    "ks_p": 0.5,
    "replicates": 100_000,
    "missing": 0,
    "T": 100.0,
}


def table(usual: dict, **columns) -> pd.DataFrame:
    """A row for each value of the longest list among the columns."""
    both = usual | columns
    rows = max(len(v) if isinstance(v, list) else 1 for v in both.values())
    return pd.DataFrame({k: v if isinstance(v, list) else [v] * rows for k, v in both.items()})


class Tables:
    """Inference tables in memory, all of them seen whole."""

    def __init__(self, **frames: pd.DataFrame):
        self.frames = frames

    def only(self, over):
        """As `Results.only` for tables that hold nothing else."""
        return self

    def inference(self, name: str) -> pd.DataFrame:
        """A table by name."""
        return self.frames[name]

    @staticmethod
    def written(folder: Path, published: tuple = (), **frames: pd.DataFrame) -> Results:
        """The same in files."""
        folder.mkdir(exist_ok=True)
        for name, frame in frames.items():
            parquet.write(folder / f"{name}.parquet", [pa.Table.from_pandas(frame, preserve_index=False)], {})
        return Results(
            "li2024", "quick", inference=[folder / f"{name}.parquet" for name in frames], published=published
        )
