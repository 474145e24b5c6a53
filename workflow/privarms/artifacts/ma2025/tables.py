"""The tables: each function takes the results and returns the frame that is written."""

import pandas as pd

from privarms.artifacts.ma2025.distance import deviations_table
from privarms.artifacts.ma2025.panels import agreement, regret
from privarms.artifacts.results import Results

# Table 1 as published; its "max n_Q" of Adult is the sum over the sources.
PUBLISHED_TABLE1 = {
    "adult": {
        "n_target": 41292,
        "sources": 7,
        "max_n_source": 3930,
        "K": 2,
        "original_dimensions": 46,
        "dimensions": 3,
    },
}
TABLE1_ENTRIES = ("n_target", "sources", "max_n_source", "sum_n_source", "K", "original_dimensions", "dimensions")


def table1(results: Results) -> pd.DataFrame:
    """Table 1, ours and as published; a row per dataset that is there. `data` is real or stand-in."""
    rows = []
    for dataset in results.datasets:
        facts, published = results.dataset(dataset), PUBLISHED_TABLE1[dataset]
        row = {"dataset": dataset, **{entry: facts[entry] for entry in TABLE1_ENTRIES}}
        row |= {f"published_{entry}": value for entry, value in published.items()}
        rows.append(row | {"data": facts["data"]})
    return pd.DataFrame(rows)


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
    return results.inference("privacy")


TABLES = {
    "table1": table1,
    "regret": regret,
    "deviations_table": deviations_table,
    "privacy_audit": privacy_audit,
    "reference_agreement": reference_agreement,
}
