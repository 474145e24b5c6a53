"""What auxiliary data save in the cells of Figure 8, and what the rate of Theorem 3.4 promises."""

import pandas as pd

from privarms.inference.intervals import ratio
from privarms.inference.rows import as_frame
from privarms.inference.transfer_rates import regret_rate
from privarms.papers.ma2025 import _panels as panels
from privarms.studies.results import Results

# Contexts of both environments.
DIMENSIONS = 2
# Margin parameter of both environments: gaps close linearly.
BETA = 1.0
OF_TARGET = ["n", "epsilon", "M", "K"]


@as_frame
def gains(results: Results, environments=tuple(panels.STUDIES)) -> pd.DataFrame:
    """Return Figure 8's cells with `gain`, regret over that without auxiliary data, and the same ratio of Theorem 3.4's
    `rate`.

    base_error: what all cells of one base share, its relative standard error. Cells without a base are left out.
    """
    for environment in environments:
        cells = panels.figure_8(results, environment)
        # As printed, the run without sources is that of Figure 7(a).
        alone = pd.concat([cells[cells["n_aux"] == 0], panels.panel(results, "fig7a", environment)])
        alone = alone[alone["program"] != "older"]
        helped = cells[cells["n_aux"] > 0]
        for _, rows in helped.groupby([*panels.ALGORITHM, "also", *OF_TARGET], sort=False, dropna=False):
            first = rows.iloc[0]
            base = alone[(alone[OF_TARGET] == first[OF_TARGET]).all(axis=1)]
            for column in (*panels.ALGORITHM, "also"):
                base = base[(base[column] == first[column]) | (base[column].isna() & pd.isna(first[column]))]
            if base.empty:
                continue
            base = base.iloc[0]
            value, se = ratio(rows["mean_regret"], rows["se_regret"], base["mean_regret"], base["se_regret"])
            base_error = base["se_regret"] / base["mean_regret"]
            rates = [_rate_ratio(row) for _, row in rows.iterrows()]
            yield rows.assign(gain=value, gain_se=se, rate=rates, base_error=base_error)


def _rate_ratio(row: pd.Series) -> float:
    exponent = row["gamma"] * (DIMENSIONS if row["variant"] == "as_released" else 1)
    budgets = [float(e) for e in row["epsilon_aux"].split("|")]
    budgets = budgets * (int(row["M"]) if len(budgets) == 1 else 1)
    sources = [(row["n_aux"], budget, exponent, row["kappa"]) for budget in budgets]
    setting = (row["n"], row["epsilon"], int(row["K"]), DIMENSIONS, BETA)
    return regret_rate(*setting, sources) / regret_rate(*setting)
