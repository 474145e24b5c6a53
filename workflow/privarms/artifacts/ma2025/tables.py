"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.artifacts.ma2025._distance import deviations_table
from privarms.artifacts.ma2025._panels import agreement, regret
from privarms.artifacts.ma2025._real_tables import (
    table1,
    table2,
    table2_comparisons,
    table2_ranks,
    table2_ranks_sheet,
    table2_sheet,
)
from privarms.artifacts.results import Results


def reference_agreement(results: Results) -> pd.DataFrame:
    """The authors' logs beside ours; the last rows are about z over all rows and over distinct cells."""
    # Whole numbers that may be missing, as in the last rows.
    table = agreement(results).astype(dict.fromkeys(("n", "n_aux", "M", "replicates", "ours_replicates"), "Int64"))
    totals = [
        {"figure": f"{name} of z, {which} cells", "z": getattr(z, statistic)()}
        for which, z in (("all", table["z"]), ("distinct", table.loc[table["distinct"], "z"]))
        for name, statistic in (("mean", "mean"), ("standard deviation", "std"))
    ]
    return pd.concat([table, pd.DataFrame(totals)], ignore_index=True)


def privacy_audit(results: Results) -> pd.DataFrame:
    """The audit of study `privacy`, a row per variant, pair of users, event, batch and budget."""
    return results.inference("privacy").drop(columns=["likelier", "other"])


def messages(results: Results) -> pd.DataFrame:
    """Study `messages`, a row per setting: what the messages of Adult's users give away of their contexts."""
    cells = results.cells("messages")
    cells = cells.assign(auxiliary=cells["auxiliary"].fillna("with") if "auxiliary" in cells else "with")
    measures = ["in_parts", "halvings", "empty", "alone"]
    names = {f"{measure}_mean": measure for measure in measures} | {f"{m}_se": f"{m}_se" for m in measures}
    both = [column for measure in measures for column in (measure, f"{measure}_se")]
    return cells.rename(columns=names)[
        ["dataset", "variant", "epsilon", "epsilon_aux", "auxiliary", "replicates", *both]
    ]


TABLES = {
    "table1": table1,
    "table2": table2,
    "table2_comparisons": table2_comparisons,
    "table2_ranks": table2_ranks,
    "regret": regret,
    "deviations_table": deviations_table,
    "privacy_audit": privacy_audit,
    "messages": messages,
    "reference_agreement": reference_agreement,
}

SHEETS = {
    "table2": table2_sheet,
    "table2_ranks": table2_ranks_sheet,
}
