"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.papers.ma2025 import _panels
from privarms.studies.artifacts import table
from privarms.studies.results import Results


@table("The released program, run again, against the authors' logs", studies=["regret", "regret_printed"])
def reference_agreement(results: Results) -> pd.DataFrame:
    """Every cell of their logs (`mean_regret`, `se_regret`) beside ours, and z, the difference in standard errors. The
    last rows have the mean and the standard deviation of z.
    """
    # Whole numbers that may be missing, as in the last rows.
    table = _panels.agreement(results).astype(
        dict.fromkeys(("n", "n_aux", "M", "replicates", "ours_replicates"), "Int64")
    )
    totals = [
        {"figure": "mean of z", "z": table["z"].mean()},
        {"figure": "standard deviation of z", "z": table["z"].std()},
    ]
    return pd.concat([table, pd.DataFrame(totals)], ignore_index=True)


@table(
    "Privacy audit of the two mechanisms",
    inference=["privacy"],
    card="Is the mechanism locally private?",
    tab="Audits",
)
def privacy_audit(results: Results) -> pd.DataFrame:
    """Two users who differ in context or in arm, the last of a batch. `exact` is the logarithm of the ratio of an
    event's probabilities, infinite where one of them is 0, empty where both are; `lower_bound` is from simulated
    messages, 99.9% Clopper-Pearson.
    """
    return results.inference("privacy")


@table(
    "What the messages of Adult's users give away of their contexts",
    studies=["messages"],
    card="Is the mechanism locally private?",
    tab="Adult's users",
    dataset="adult",
)
def messages(results: Results) -> pd.DataFrame:
    """As released. `in_parts`, the share of the target's users whose message names a bin that is not the whole cube,
    `halvings`, how often it had been halved, in the mean over all users; `empty`, the share of bins whose sums show,
    batch by batch, that none of 100 users was there; `alone`, the share of users who have changed a bin's sums alone. A
    bin with one arm left is not followed. As printed all of them are 0.
    """
    cells = results.cells("messages")
    cells = cells.assign(auxiliary=cells["auxiliary"].fillna("with") if "auxiliary" in cells else "with")
    measures = ["in_parts", "halvings", "empty", "alone"]
    names = {f"{measure}_mean": measure for measure in measures} | {f"{m}_se": f"{m}_se" for m in measures}
    both = [column for measure in measures for column in (measure, f"{measure}_se")]
    return cells.rename(columns=names)[
        ["dataset", "variant", "epsilon", "epsilon_aux", "auxiliary", "replicates", *both]
    ]


@table(
    "Regret over all panels of Figures 7 to 9",
    studies=["regret", "regret_printed", "regret_symmetric", "regret_printed_symmetric"],
)
def regret(results: Results) -> pd.DataFrame:
    """As released is in Figure 7(a) the older version of the program that drew it, as_released_current the released
    one. `n_aux` is per source; without auxiliary data `epsilon_aux` is 1024, gamma 0 and kappa 1.
    """
    return _panels.regret(results)
