"""Numbers and lists as text."""

import math
import numbers
from collections.abc import Sequence
from typing import Any

import pandas as pd


def shown(value: Any, digits: int = 6) -> str:
    """Return a cell as text: `digits` significant digits, whole numbers in full, empty for a missing value."""
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return str(value)
    number = float(value)
    if math.isnan(number):
        return ""
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.{digits}g}"


def joined(names: Sequence[str]) -> str:
    """Return names in a sentence: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
