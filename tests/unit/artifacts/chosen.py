"""What `Results.replicates` gives of a frame that is in memory."""

import operator

import pandas as pd

COMPARISONS = {"==": operator.eq, ">": operator.gt}


def chosen(frame: pd.DataFrame, columns=None, filters=None) -> pd.DataFrame:
    """Some columns of the rows that all filters let through."""
    for column, comparison, value in filters or ():
        frame = frame[COMPARISONS[comparison](frame[column], value)]
    return frame[list(columns) if columns else frame.columns].reset_index(drop=True)
