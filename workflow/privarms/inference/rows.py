"""Tables whose rows a function yields."""

from collections.abc import Callable, Iterator
from functools import wraps

import pandas as pd


def as_frame(function: Callable[..., Iterator[dict] | Iterator[pd.DataFrame]]) -> Callable[..., pd.DataFrame]:
    """Make a function that yields rows, as mappings or as frames, return one frame."""

    @wraps(function)
    def made(*arguments, **named) -> pd.DataFrame:
        rows: list = list(function(*arguments, **named))
        if rows and isinstance(rows[0], pd.DataFrame):
            return pd.concat(rows, ignore_index=True)
        return pd.DataFrame(rows)

    return made
