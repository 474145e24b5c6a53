"""Stand-ins for `Results` and its methods on frames in memory."""

import operator
from types import SimpleNamespace

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


def results(*, published, tables, cells=None, replicates=None, **inference) -> SimpleNamespace:
    """Return the inputs of a job: study -> rows for `cells` and `replicates`, table -> rows, number -> value."""
    cells, replicates, inference = (
        {name: pd.DataFrame(rows) for name, rows in (frames or {}).items()} for frames in (cells, replicates, inference)
    )
    return SimpleNamespace(
        cells=cells.__getitem__,
        replicates=lambda study, columns=None, filters=None: chosen(replicates[study], columns, filters),
        by_cell=lambda study, columns: by_cell(replicates[study], columns),
        inference=inference.__getitem__,
        published=published.__getitem__,
        published_table=lambda name, **options: tables[name],
    )
