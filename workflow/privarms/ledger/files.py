"""The files of the ledger: a row per case, and a row per statement."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from privarms.errors import PrivarmsError
from privarms.files.whole import read_csv, write_text
from privarms.ledger.cases import COLUMNS, NUMBERS


def write(rows: Sequence[Mapping], path: Path | str, columns: Sequence[str]) -> None:
    """Write rows as CSV, in the order given, the numbers of cases to ten digits."""
    frame = pd.DataFrame(rows, columns=list(columns))
    for column in set(columns) & set(NUMBERS):
        frame[column] = ["" if v is None or v == "" or pd.isna(v) else f"{float(v):.10g}" for v in frame[column]]
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def read(path: Path | str, columns: Sequence[str] = COLUMNS) -> list[dict[str, str]]:
    """Return the rows of a file that `write` wrote, each cell as its text. Raise PrivarmsError for other columns."""
    header, lines = read_csv(Path(path))
    if tuple(header) != tuple(columns):
        raise PrivarmsError(f"{path}: expected the columns {', '.join(columns)}, in this order; build it again")
    return [dict(zip(columns, cells, strict=True)) for cells in lines]
