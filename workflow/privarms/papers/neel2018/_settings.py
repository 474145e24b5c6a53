"""Names of ladders, experiments and parameters, and the settings that the paper prints."""

from collections.abc import Iterable, Mapping

import pandas as pd

from privarms.planning.results import Results

# Cards of the report.
FIGURE_5 = "Figure 5: average regret, Experiment 2"
THEOREM_1 = "Bias over epsilon, and Theorem 1"
CORRECTION = "Corrected p-values (Theorem 3, Corollary 2)"
FIGURE_6 = "Figure 6 in every interpretation"
LEVEL = 0.05
# study -> the value of its column `experiment`.
EXPERIMENTS = {"experiment_1": "1", "experiment_2": "2", "epsilon_sweep": "epsilon_sweep", "corollary_1": "corollary_1"}
ABLATIONS = ("private_ucb_gamma_only", "private_ucb_noise_only")
# In written tables: the policy is the same as printed and as released.
BOTH = "both"


def ladder(top: float, bottom: float, K: float) -> str:
    """Return the name of the arms' means: the top one and the gap."""
    return f"{_decimals(top)}-{_decimals((top - bottom) / (K - 1))}"


def _decimals(value: float) -> str:
    """Return a number with two decimals, or more if it needs them."""
    return f"{value:.2f}" if abs(round(value, 2) - value) < 1e-9 else f"{value:.6g}"


def bonus(cell: Mapping | pd.Series) -> str | None:
    """Return whether private UCB's gamma_t has the factor K of the authors' program; None for other policies."""
    if cell["policy"] != "private_ucb":
        return None
    return "without factor K" if cell.get("factor_K") in (False, "False") else "with factor K"


def parameters(replicates: pd.DataFrame) -> list[str]:
    """Return the columns of a study's replicates with its cells' parameters, except policy, variant and horizon."""
    named = ("cell", "policy", "variant", "data", "environment", "horizon")
    columns = list(replicates.columns)
    return [c for c in columns[: columns.index("replicate")] if c not in named]


def printed(results: Results) -> pd.DataFrame:
    """Return the settings of the paper's experiments, one row each, by `experiment`."""
    return results.published_table("experiments", dtype={"experiment": str}).set_index("experiment")


def together(results: Results, table: str, studies: Iterable[str]) -> pd.DataFrame:
    """Return the rows of an inference table of several studies, one study after another."""
    return pd.concat([results.inference(f"{table}_{study}") for study in studies], ignore_index=True)
