"""Tables of the synthesis with a few rows and known decisions."""

import numpy as np
import pandas as pd

POLICIES = {"dp_se": ("DP-SE", ""), "dp_imed": ("DP-IMED", ""), "private_ucb": ("Private UCB", "as_released")}
OPEN = {"ucb1": ("UCB1", ""), "uniform": ("uniform", "")}
MEANS = {"mu2": 0.25, "equal": 0.0}


def runs(**regrets) -> pd.DataFrame:
    """Return one row per policy and instance (K = 5, T = 1,000, epsilon 1); regrets: by policy, on mu2, error 1."""
    rows = []
    for policy, regret in (
        {"dp_se": 200, "dp_imed": 100, "private_ucb": 50, "ucb1": 60, "uniform": 250} | regrets
    ).items():
        label, variant = (POLICIES | OPEN).get(policy, (policy, ""))
        for instance, mean_gap in MEANS.items():
            gaps = mean_gap > 0
            rows.append(
                {
                    **{"policy": policy, "variant": variant, "curve": label, "instance": instance, "K": 5},
                    **{"horizon": 1_000, "epsilon": np.nan if policy in OPEN else 1.0, "claims": policy not in OPEN},
                    **{"replicates": 1_000, "regret": regret if gaps else 0.0, "se": 1.0 if gaps else 0.0},
                    **{"median": regret, "q90": 1.2 * regret, "bound": 50.0 if gaps else 0.0, "unpulled": 0},
                    **{"uniform": 1_000 * mean_gap, "worst_bias": -0.02, "worst_bias_se": 0.001},
                    **{"over_theorem": np.nan if policy in OPEN else 0.1, "over_theorem_se": 0.01, "theorem": 1.0},
                    **{"over_bound": regret / 50 if gaps else np.nan, "over_bound_se": 0.02},
                }
            )
    return pd.DataFrame(rows)


def tests(of: pd.DataFrame, **errors) -> pd.DataFrame:
    """Return one row per cell and procedure; errors: number in 1,000 runs, by procedure."""
    counts = {"naive": 200, "bonferroni": 20, "max_information": 0, "confidence_sequence": 1, "e_value": 2}
    counts |= {"sample_splitting": 30} | errors
    powers = {"naive": 900, "bonferroni": 800, "max_information": 10, "confidence_sequence": 400, "e_value": 600}
    powers |= {"sample_splitting": 850}
    rows = []
    for cell in of.to_dict("records"):
        for name, count in counts.items():
            if name == "max_information" and not cell["claims"]:
                continue
            row = {k: cell[k] for k in ("policy", "variant", "curve", "instance", "K", "horizon", "epsilon", "claims")}
            row |= {"procedure": name, "trials": 1_000, "errors": count, "log_gamma": -500.0}
            row["powers"] = powers[name] if cell["bound"] > 0 else np.nan
            if name not in ("bonferroni", "e_value"):
                wide = {"naive": 0.05, "sample_splitting": 0.05, "confidence_sequence": 0.1, "max_information": 0.9}[
                    name
                ]
                row |= {"mean_held": 880 if name == "naive" else 1_000, "gap_held": 1_000}
                width = wide * (1 if cell["policy"] == "uniform" else 2)
                row |= {"mean_width": wide, "gap_width": width, "mean_width_se": 1e-4, "gap_width_se": 1e-4}
            rows.append(row)
    return pd.DataFrame(rows)


def privacy(**exact) -> pd.DataFrame:
    """Return one row per policy; exact: log ratios divided by the claim."""
    shown = {"dp_se": 1.0, "dp_imed": 1.0, "private_ucb": 8.0, "ucb1": np.nan, "uniform": np.nan} | exact
    rows = [
        {
            **{"policy": policy, "variant": (POLICIES | OPEN).get(policy, ("", ""))[1], "claims": policy not in OPEN},
            **{"audited": 0 if np.isnan(value) else 3, "exact": value, "lower_bound": 0.9 * value},
        }
        for policy, value in shown.items()
    ]
    return pd.DataFrame(rows)
