"""Parquet files with their origin: parameters, seed, package versions, git revision."""

import itertools
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

from privarms import __version__
from privarms.errors import DamagedError, PrivarmsError
from privarms.files.revision import revision
from privarms.files.whole import whole

if TYPE_CHECKING:
    # Importing pandas would double the start of a simulation, which does not need it.
    import pandas as pd

# pyarrow makes the functions of this module when it is imported, so their types are unknown.
pc: Any = pyarrow.compute
KEY = b"privarms"
PACKAGES = ("numpy", "scipy", "numba", "pandas", "pyarrow", "snakemake")
ROWS_PER_GROUP = 2**16
# A study's footer describes its cells. Without this limit readers refuse a footer of 100 MB, some 300,000 cells.
READING = {"thrift_string_size_limit": 2**31 - 1, "page_checksum_verification": True}


def origin() -> dict:
    """Return the versions of Python and packages and the git revision ("unknown" outside a repository)."""
    return {
        "revision": revision(),
        "versions": {"privarms": __version__, "python": platform.python_version(), **{p: version(p) for p in PACKAGES}},
    }


def write(path: Path | str, tables: Iterable[pa.Table], metadata: Mapping) -> None:
    """Write tables of one schema, one after another; the bytes depend only on their rows and the metadata.

    Memory: one row group and one table.
    """
    tables = iter(tables)
    first = next(tables)
    schema = first.schema.with_metadata(None)
    with (
        whole(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        for group in _row_groups(itertools.chain([first], tables), schema):
            writer.write_table(group)
        writer.add_key_value_metadata({KEY: json.dumps(metadata, sort_keys=True)})


def _row_groups(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows in groups of one size: with a group per small table the footer would be larger than the data."""
    pending, rows = [], 0
    for table in tables:
        pending.append(table.cast(schema))
        rows += table.num_rows
        while rows >= ROWS_PER_GROUP:
            together = pa.concat_tables(pending)
            yield _in_one_piece(together.slice(0, ROWS_PER_GROUP))
            pending, rows = [together.slice(ROWS_PER_GROUP)], rows - ROWS_PER_GROUP
    if rows:
        yield _in_one_piece(pa.concat_tables(pending))


def _in_one_piece(table: pa.Table) -> pa.Table:
    """Return one array per column, and dictionaries in the order in which their values appear."""
    columns = [
        column.cast(column.type.value_type).dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, schema=table.schema).unify_dictionaries().combine_chunks()


def read(
    path: Path | str, columns: Sequence[str] | None = None, filters: Sequence[tuple[str, str, object]] | None = None
) -> pa.Table:
    """Read a file written by `write`; raise DamagedError if it is not a complete Parquet file.

    filters: (column, comparison, value); all must be satisfied. The other rows are never all in memory at once.
    """
    with _faults_of(path):
        return pq.read_table(path, columns=columns and list(columns), filters=filters and list(filters), **READING)


@contextmanager
def _faults_of(path: Path | str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        # A system error (no such file, no permission, a failing disk) does not mean that the file is damaged.
        if isinstance(error, OSError) and (error.errno is not None or not Path(path).exists()):
            raise PrivarmsError(f"{path}: cannot be read: {reason}") from error
        raise DamagedError(path, f"not a complete Parquet file ({reason})") from error


class RowsBy:
    """Reader of the rows of several files by their text in a column; the rows come without this column.

    columns: the names of the other columns. Memory: two row groups. Raises DamagedError as `read` does.
    """

    def __init__(self, paths: Sequence[Path | str], column: str):
        self._file = lru_cache(maxsize=2)(partial(pq.ParquetFile, **READING))
        # text -> (file, row group, first row in it, number of rows) of each run of equal texts
        self.places: dict[str, list[tuple[Path | str, int, int, int]]] = {}
        for path in paths:
            with _faults_of(path):
                groups = self._file(path).metadata.num_row_groups
                self.columns = [name for name in self._file(path).schema_arrow.names if name != column]
            for group in range(groups):
                texts = self._read(path, group, column).cast(pa.string()).combine_chunks()
                runs = pc.run_end_encode(texts)
                start = 0
                for text, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
                    self.places.setdefault(text, []).append((path, group, start, end - start))
                    start = end
        # A row group may have many cells, so its columns are kept.
        self._column = lru_cache(maxsize=2 * len(self.columns) + 2)(self._read)

    def rows(self, text: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some columns of the rows with this text, in order, one row group at a time."""
        for path, group, row, n in self.places.get(text, ()):
            yield pa.table({name: self._column(path, group, name).slice(row, n) for name in columns})

    def column(self, text: str, name: str) -> np.ndarray:
        """Return one column of the rows with this text, empty if none has it."""
        parts = [part[name].to_numpy() for part in self.rows(text, [name])]
        return np.concatenate(parts) if parts else np.empty(0)

    def _read(self, path: Path | str, group: int, column: str) -> pa.ChunkedArray:
        with _faults_of(path):
            return self._file(path).read_row_group(group, [column])[column]


def read_by(
    column: str, path: Path | str, values: Sequence[str]
) -> Iterator[tuple["pd.DataFrame", dict[str, np.ndarray]]]:
    """Yield, for each text in a column, its first row, and some columns of all its rows.

    Memory: these columns and two row groups. Raises DamagedError as `read` does.
    """
    by = RowsBy([path], column)
    firsts = [next(by.rows(text, [column, *by.columns])).take([0]) for text in by.places]
    frame = pa.concat_tables(firsts).to_pandas()
    for i, text in enumerate(by.places):
        yield frame.iloc[i : i + 1], {name: by.column(text, name) for name in values}


def metadata(path: Path | str) -> dict:
    """Return the metadata that `write` stored in a file."""
    with pq.ParquetFile(path, **READING) as file:
        return json.loads(file.metadata.metadata[KEY])
