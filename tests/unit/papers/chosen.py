"""Stand-ins for `Results.replicates` and `Results.by_cell` on a frame in memory."""

import operator

import pandas as pd

COMPARISONS = {"==": operator.eq, ">": operator.gt, "in": lambda column, values: column.isin(values)}


def chosen(frame: pd.DataFrame, columns=None, filters=None) -> pd.DataFrame:
    """Return some columns of the rows that pass all filters."""
    for column, comparison, value in filters or ():
        frame = frame[COMPARISONS[comparison](frame[column], value)]
    return frame[list(columns) if columns else frame.columns].reset_index(drop=True)


def by_cell(frame: pd.DataFrame, columns):
    """Yield the first row of each cell, and some columns of all its rows."""
    for _, rows in frame.groupby("cell", sort=False, observed=True):
        yield rows.head(1), {name: rows[name].to_numpy() for name in columns}
