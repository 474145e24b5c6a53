"""Claims about the estimators of Tables 2 and 3."""

import pandas as pd

from privarms.claims.verdict import Measured
from privarms.papers.li2024._extremes import NOTHING, largest, measured
from privarms.plots.curves import ratio
from privarms.studies.results import Results


def entry(results: Results, table: str, reg: int, estimator: str, reading: str) -> Measured:
    """The mean squared error of an estimator in a table, for m rounds under a reading."""
    rows = results.inference(table)
    rows = rows[(rows["reading"] == reading) & (rows["reg"] == reg)]
    own = rows["estimator"] == estimator
    if not own.any():
        return NOTHING
    row = rows[own].iloc[0]
    others = ", ".join(f"{r.estimator} {r.mse:.3g}" for r in rows[~own].itertuples())
    return Measured(row["mse"], row["se"], int(row["replicates"]), f"m = {row['m']}; the others: {others}.")


def over_mean_difference(results: Results, table: str, estimator: str) -> Measured:
    """The smallest mean squared error of an estimator over that of the mean difference on the same rewards."""
    rows = results.inference("estimators")
    rows = rows[(rows["study"] == table) & (rows["estimator"] == estimator)]
    if rows.empty:
        return NOTHING
    parts = measured(rows["ratio"], rows["se"], rows["replicates"])
    worst = rows.loc[rows["ratio"].idxmin()]
    return Measured.smallest(parts, f"Smallest at m = {worst['m']}, largest {rows['ratio'].max():.4g}; in pairs.")


def _literal(results: Results, table: str, m: int) -> pd.DataFrame:
    rows = results.inference(table)
    return rows[(rows["reading"] == "literal") & (rows["m"] == m)].set_index("estimator")


def twice_the_rounds(results: Results, table: str) -> Measured:
    """The largest ratio over the named estimators of the error after 800 rounds to that after 400."""
    late, early = (_literal(results, table, m) for m in (800, 400))
    value, error = ratio(late["mse"], late["se"], early["mse"], early["se"])
    listed = ", ".join(f"{name} {one:.3g}" for name, one in value.items())
    return largest(value, error, late["replicates"], lambda _: f"{listed[:1].upper()}{listed[1:]}.")


def ill_conditioned(results: Results, estimator: str, m: int) -> Measured:
    """An estimator's mean squared error in Experiment 2 over that in Experiment 1, after m rounds."""
    second, first = (_literal(results, table, m) for table in ("table3", "table2"))
    if estimator not in second.index or estimator not in first.index:
        return NOTHING
    second, first = second.loc[estimator], first.loc[estimator]
    value, error = ratio(second["mse"], second["se"], first["mse"], first["se"])
    return Measured(float(value), float(error), int(min(second["replicates"], first["replicates"])), f"m = {m}.")
