"""Parquet files that carry their origin: resolved parameters, seed, package versions, git revision."""

import itertools
import json
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from privarms import __version__
from privarms.errors import DamagedError, PrivarmsError
from privarms.files.whole import whole

if TYPE_CHECKING:
    # Half of the start of a simulation, which needs none.
    import pandas as pd

KEY = b"privarms"
PACKAGES = ("numpy", "scipy", "numba", "pandas", "pyarrow", "snakemake")
ROWS_PER_GROUP = 2**17
# A study's footer describes each of its cells; at 100 MB, some 300,000 cells, a reader would refuse it otherwise.
READING = {"thrift_string_size_limit": 2**31 - 1, "page_checksum_verification": True}


def origin() -> dict:
    """Python's and the packages' versions and the git revision ("unknown" outside a repository)."""
    return {
        "revision": revision(),
        "versions": {"privarms": __version__, "python": platform.python_version(), **{p: version(p) for p in PACKAGES}},
    }


def revision() -> str:
    """The git revision of the working tree, with `-dirty` behind it where files differ from it."""
    try:
        here = Path(__file__).parent
        command = ["git", "-C", str(here), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def write(path: Path | str, tables: Iterable[pa.Table], metadata: Mapping) -> None:
    """Write tables of one schema one after another; the bytes depend on their rows and the metadata alone.

    Holds no more than the rows of a row group and a table in memory.
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
    """The rows of the tables in groups of one size, the last one smaller: a row group for each of many small tables
    would make a footer larger than the data."""
    pending, rows = [], 0
    for table in tables:
        rest = table.cast(schema)
        while rows + rest.num_rows >= ROWS_PER_GROUP:
            lacking = ROWS_PER_GROUP - rows
            group = _in_one_piece(pa.concat_tables([*pending, rest.slice(0, lacking)]))
            # What the group was put together from is let go before it is written.
            pending, rows, rest = [], 0, rest.slice(lacking)
            yield group
            del group
        pending.append(rest)
        rows += rest.num_rows
    if rows:
        yield _in_one_piece(pa.concat_tables(pending))


def _in_one_piece(table: pa.Table) -> pa.Table:
    """Without a trace of the tables that the rows came in: each column one array, each dictionary just its values."""
    columns = [_of_its_values(c) if pa.types.is_dictionary(c.type) else c for c in table.columns]
    return pa.table(columns, schema=table.schema).combine_chunks()


def _of_its_values(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """One array of a column, whose dictionary has the column's values in the order in which they first appear."""
    joined = column.unify_dictionaries().combine_chunks()
    # Numbers are told apart sooner than texts.
    seen = joined.indices.dictionary_encode()
    return pa.DictionaryArray.from_arrays(seen.indices, joined.dictionary.take(seen.dictionary))


def read(
    path: Path | str, columns: Sequence[str] | None = None, filters: Sequence[tuple[str, str, object]] | None = None
) -> pa.Table:
    """Read one of our files; DamagedError if it is not a whole Parquet file.

    filters: (column, comparison, value); rows for which one does not hold are never in memory together
    """
    some = {"columns": list(columns) if columns else None, "filters": list(filters) if filters else None}
    with _faults_of(path):
        return pq.read_table(path, **READING, **some)


@contextmanager
def _faults_of(path: Path | str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        # An error of the system (no such file, no permission, a failing disk) is no sign of damage.
        if isinstance(error, OSError) and (error.errno is not None or not Path(path).exists()):
            raise PrivarmsError(f"{path}: cannot be read: {reason}") from error
        raise DamagedError(path, f"not a whole Parquet file ({reason})") from error


class RowsBy:
    """One of our files, of which the rows are read that have a text in a column; that column is left out.

    columns: the names of the others. Of the rest of the file two row groups are in memory. Raises DamagedError as
    `read`.
    """

    def __init__(self, path: Path | str, column: str):
        self.path, self.column = path, column
        with _faults_of(path):
            self.file = pq.ParquetFile(path, read_dictionary=[column], **READING)
            # text -> (row group, first row in it, how many) of each run of its rows
            self.places: dict[str, list[tuple[int, int, int]]] = {}
            for group in range(self.file.metadata.num_row_groups):
                row = 0
                for text, rows in runs(self.file.read_row_group(group, [column]), column):
                    self.places.setdefault(text, []).append((group, row, rows.num_rows))
                    row += rows.num_rows
        self.columns = [name for name in self.file.schema_arrow.names if name != column]
        self.latest: dict[tuple[int, tuple[str, ...]], pa.Table] = {}

    def count(self, text: str) -> int:
        """How many rows have this text."""
        return sum(n for _, _, n in self.places.get(text, ()))

    def rows(self, text: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of the rows with this text, in the rows' order: those of a row group at a time."""
        for group, row, n in self.places.get(text, ()):
            yield self._group(group, tuple(columns)).slice(row, n)

    def _group(self, group: int, columns: tuple[str, ...]) -> pa.Table:
        if (group, columns) not in self.latest:
            while len(self.latest) > 1:
                del self.latest[next(iter(self.latest))]
            with _faults_of(self.path):
                self.latest[group, columns] = self.file.read_row_group(group, list(columns))
        return self.latest[group, columns]


def read_by(
    column: str, path: Path | str, values: Sequence[str], narrow: Sequence[str] = ()
) -> Iterator[tuple["pd.DataFrame", dict[str, np.ndarray]]]:
    """Yield, for each text in a column, the first of its rows, and some columns of all of them.

    Of everything else two row groups are in memory. Raises DamagedError as `read`.

    narrow: of `values` those whose integers come in the smallest type that holds them, in which a sum may not fit

    Integers of the first row are floats if a row of the file has none, as in a frame of the whole file.
    """
    by = RowsBy(path, column)
    everything = [column, *by.columns]
    firsts = pa.concat_tables(next(by.rows(text, everything)).take([0]) for text in by.places)
    frame = firsts.to_pandas().astype(dict.fromkeys(_integers_with_gaps(by.file), float))
    for i, text in enumerate(by.places):
        parts = {name: [] for name in values}
        for rows in by.rows(text, values):
            for name in values:
                part = np.asarray(rows[name])
                parts[name].append(_narrow(part) if name in narrow and part.dtype.kind == "i" else part)
        yield frame.iloc[i : i + 1], {name: np.concatenate(parts.pop(name)) for name in values}


def _integers_with_gaps(file: pq.ParquetFile) -> list[str]:
    groups = [file.metadata.row_group(g) for g in range(file.metadata.num_row_groups)]
    integers = [(i, f.name) for i, f in enumerate(file.schema_arrow) if pa.types.is_integer(f.type)]
    return [name for i, name in integers if any(group.column(i).statistics.null_count for group in groups)]


def _narrow(integers: np.ndarray) -> np.ndarray:
    """The same values in the smallest type that holds them."""
    return integers.astype(np.result_type(*map(np.min_scalar_type, (integers.min(), integers.max()))))


def runs(table: pa.Table, column: str) -> Iterator[tuple[str, pa.Table]]:
    """The runs of rows that agree in a column of texts, each with its text."""
    texts = table[column]
    encoded = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    # As numbers: a text for each row would be most of the memory.
    combined = encoded.unify_dictionaries().combine_chunks()
    names, numbers = combined.dictionary.to_pylist(), combined.indices.to_numpy()
    edges = [0, *(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1), len(numbers)]
    for start, end in itertools.pairwise(edges):
        yield names[numbers[start]], table.slice(start, end - start)


def metadata(path: Path | str) -> dict:
    """The origin that `write` put into a file."""
    with pq.ParquetFile(path, **READING) as file:
        return json.loads(file.metadata.metadata[KEY])
