"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.papers.ma2025 import _real_tables
from privarms.papers.ma2025._distance import deviations_table
from privarms.papers.ma2025._panels import agreement, regret
from privarms.plots.registry import functions_of
from privarms.studies.results import Results


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


TABLES = functions_of(__name__, _real_tables) | {"deviations_table": deviations_table, "regret": regret}
SHEETS = {"table2": _real_tables.table2_sheet, "table2_ranks": _real_tables.table2_ranks_sheet}
