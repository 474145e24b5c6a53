"""Parquet files that carry their origin (resolved parameters, seed, package versions, git revision) and a checksum.

The checksum is the SHA-256 of all bytes of the file but its own 64 digits, which stand in the footer. Parquet's own
checksums cover the pages alone: a bit that flips in a page's header or in the footer can give other values in silence.
"""

import hashlib
import itertools
import json
import os
import platform
import re
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
CHECKSUM = "privarms_sha256"
# As Parquet's footer writes it: the key, the type and the length of the value, the value.
SEAL = re.compile(CHECKSUM.encode() + rb"\x18\x40([0-9a-f]{64})")
MAGIC = b"PAR1"
# A study's footer describes each of its cells; at 100 MB, some 300,000 cells, a reader would refuse it otherwise.
FOOTER_BYTES = 2**31 - 1


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
    with whole(path) as temporary:
        with pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True) as writer:
            for group in _row_groups(itertools.chain([first], tables), schema):
                writer.write_table(group)
            writer.add_key_value_metadata({KEY: json.dumps(metadata, sort_keys=True), CHECKSUM: "0" * 64})
        place, _, computed = _checksum(temporary)
        with open(temporary, "r+b") as file:
            file.seek(place)
            file.write(computed)


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
    """Read one file of ours; DamagedError where it is not the file that was written.

    filters: (column, comparison, value); rows for which one does not hold are never in memory together
    """
    with _faults_of(path):
        verify(path)
        some = {"columns": list(columns) if columns else None, "filters": list(filters) if filters else None}
        return pq.read_table(path, thrift_string_size_limit=FOOTER_BYTES, **some)


@contextmanager
def _faults_of(path: Path | str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        # What the system refuses (no such file, no permission, a disk that fails) says nothing about the content.
        if isinstance(error, OSError) and error.errno is not None:
            raise PrivarmsError(f"{path}: cannot be read: {reason}") from error
        raise DamagedError(path, f"not a whole Parquet file ({reason})") from error


class RowsBy:
    """One file of ours, of which the rows are read that have a text in a column; that column is left out.

    columns: the names of the others. Of the rest of the file one row group is in memory. Raises DamagedError as `read`.
    """

    def __init__(self, path: Path | str, column: str):
        self.path, self.column = path, column
        with _faults_of(path):
            verify(path)
            self.file = pq.ParquetFile(path, read_dictionary=[column], thrift_string_size_limit=FOOTER_BYTES)
            # text -> (row group, first row in it, how many) of each run of its rows
            self.places: dict[str, list[tuple[int, int, int]]] = {}
            for group in range(self.file.metadata.num_row_groups):
                row = 0
                for text, rows in runs(self.file.read_row_group(group, [column]), column):
                    self.places.setdefault(text, []).append((group, row, rows.num_rows))
                    row += rows.num_rows
        self.columns = [name for name in self.file.schema_arrow.names if name != column]
        self.latest: tuple[int, Sequence[str], pa.Table] | None = None

    def count(self, text: str) -> int:
        """How many rows have this text."""
        return sum(n for _, _, n in self.places.get(text, ()))

    def rows(self, text: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of the rows with this text, in the rows' order: those of a row group at a time."""
        for group, row, n in self.places.get(text, ()):
            yield self._group(group, columns).slice(row, n)

    def _group(self, group: int, columns: Sequence[str]) -> pa.Table:
        if self.latest is None or self.latest[:2] != (group, columns):
            self.latest = None
            with _faults_of(self.path):
                self.latest = group, columns, self.file.read_row_group(group, list(columns))
        return self.latest[2]


def read_by(
    column: str, path: Path | str, values: Sequence[str], narrow: Sequence[str] = ()
) -> Iterator[tuple["pd.DataFrame", dict[str, np.ndarray]]]:
    """Of each run of rows of one file of ours that agree in a column: its first row, and some columns whole.

    Of everything else one row group is in memory. Raises DamagedError as `read`.

    narrow: of `values` those whose integers come in the smallest type that holds them, in which a sum may not fit

    Integers of the first row are floats if a row of the file has none, as in a frame of the whole file.
    """
    verify(path)
    with pq.ParquetFile(path, thrift_string_size_limit=FOOTER_BYTES) as file:
        metadata, types = file.metadata, dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
        lacking = {
            metadata.schema.column(i).name
            for i in range(metadata.num_columns)
            if any(metadata.row_group(g).column(i).statistics.null_count for g in range(metadata.num_row_groups))
        }
        as_float = {name: float for name in lacking if pa.types.is_integer(types[name])}
        lengths = _lengths(file, column)
        latest, first, filled, joined = None, None, 0, {}
        for group in range(metadata.num_row_groups):
            table = file.read_row_group(group, list(dict.fromkeys([column, *values])))
            found = list(runs(table, column))
            if found[0][0] != latest or len(found) > 1:
                others = file.read_row_group(group, [name for name in types if name not in table.column_names])
                starts = np.cumsum([0, *(rows.num_rows for _, rows in found[:-1])])
                of_all = {name: (table if name in table.column_names else others)[name] for name in types}
                firsts = pa.table({name: of_rows.take(starts) for name, of_rows in of_all.items()}).to_pandas()
                firsts = firsts.astype(as_float)
            for i, (value, rows) in enumerate(found):
                if value != latest:
                    if first is not None:
                        yield first, joined
                    latest, first = value, firsts.iloc[i : i + 1]
                    length, filled, joined = next(lengths), 0, {}
                for name in values:
                    _fill(joined, name, filled, length, np.asarray(rows[name]), name in narrow)
                filled += rows.num_rows
        if first is not None:
            yield first, joined


def _lengths(file: pq.ParquetFile, column: str) -> Iterator[int]:
    """How long each run of rows of a file is that agree in a column."""
    latest, length = None, 0
    for group in range(file.metadata.num_row_groups):
        for value, rows in runs(file.read_row_group(group, [column]), column):
            if value != latest and length:
                yield length
                length = 0
            latest, length = value, length + rows.num_rows
    if length:
        yield length


def _fill(joined: dict[str, np.ndarray], name: str, start: int, length: int, part: np.ndarray, narrow: bool) -> None:
    """Put a part of a column in its place. The whole is made at once: from parts it would be in memory twice."""
    kind = part.dtype
    if narrow and kind.kind == "i":
        kind = np.result_type(np.min_scalar_type(part.min()), np.min_scalar_type(part.max()))
    if name not in joined:
        joined[name] = np.empty(length, kind)
    elif not np.can_cast(kind, joined[name].dtype):
        joined[name] = joined[name].astype(np.result_type(kind, joined[name].dtype))
    joined[name][start : start + len(part)] = part


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


def verify(path: Path | str) -> None:
    """Hold a file of ours against its checksum; DamagedError where they differ."""
    _, stated, computed = _checksum(path)
    if stated != computed:
        raise DamagedError(path, f"its SHA-256 is {computed.decode()}, not {stated.decode()} as written in it")


def _checksum(path: Path | str) -> tuple[int, bytes, bytes]:
    """Where the digits of a file's checksum stand, the digits, and what they must be."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        end = file.read()
        footer = size - 8 - int.from_bytes(end[:4], "little")
        if end[4:] != MAGIC or footer < 0:
            raise DamagedError(path, "not a whole Parquet file (its end is missing)")
        file.seek(footer)
        seals = list(SEAL.finditer(file.read()))
        if len(seals) != 1:
            raise DamagedError(path, "its checksum is missing")
        place = footer + seals[0].start(1)
        digest = hashlib.sha256()
        file.seek(0)
        while file.tell() < place:
            digest.update(file.read(min(place - file.tell(), 2**20)))
        file.seek(place + 64)
        while chunk := file.read(2**20):
            digest.update(chunk)
    return place, seals[0][1], digest.hexdigest().encode()


def metadata(path: Path | str) -> dict:
    """The origin that `write` put into a file."""
    with pq.ParquetFile(path, thrift_string_size_limit=FOOTER_BYTES) as file:
        return json.loads(file.metadata.metadata[KEY])
