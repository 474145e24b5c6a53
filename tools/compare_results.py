"""Compare two result folders of one scale bit by bit and print all differences.

    python tools/compare_results.py OLD NEW [--skip GLOB]...

OLD and NEW are folders such as results/quick. CSV files (the ledger, statements, audits, figures, tables) are compared
as bytes, the columns of every Parquet file as bits. For a different CSV file the first different cell is printed. Exit
status: 0 without differences, 1 otherwise.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# Shards are omitted because the studies contain them, reports and pictures because they contain versions and dates.
COMPARED = ("*.csv", "studies/*.parquet", "inference/*.parquet")


def files(folder: Path, skip: list[str]) -> set[str]:
    """Return the compared files below a folder, as relative paths."""
    paths = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    return {p for p in paths if any(fnmatch(p, g) for g in COMPARED) and not any(fnmatch(p, g) for g in skip)}


def differing_cell(old: Path, new: Path) -> str:
    """Return the first difference of two CSV files: the first cell of its row, the column and both values."""
    rows, others = (list(csv.reader(path.open(encoding="utf-8", newline=""))) for path in (old, new))
    if rows[:1] != others[:1]:
        return f"columns {rows[0]} against {others[0]}"
    if len(rows) != len(others):
        first, second = ({row[0] for row in table[1:]} for table in (rows, others))
        return f"{len(rows) - 1} rows against {len(others) - 1}; only in one: {sorted(first ^ second)[:20]}"
    pairs = [(row, other) for row, other in zip(rows[1:], others[1:], strict=True) if row != other]
    for row, other in pairs:
        cells = zip(rows[0], row, other, strict=True)
        return f"{len(pairs)} rows, first {row[0]}: " + "; ".join(f"{c}: {a!r} -> {b!r}" for c, a, b in cells if a != b)
    return "quotes or line ends"


def same_bits(old: pa.ChunkedArray, new: pa.ChunkedArray) -> bool:
    """Return whether two columns have the same type and values; floats are compared as bits."""
    if old.type != new.type or len(old) != len(new):
        return False
    if pa.types.is_dictionary(old.type):
        # The dictionary of each row group lists only its own values, so it depends on the size of the groups.
        old, new = (column.cast(old.type.value_type) for column in (old, new))
    if not pa.types.is_floating(old.type):
        return old.equals(new)
    columns = (column.to_numpy().view(f"u{old.type.bit_width // 8}") for column in (old, new))
    return bool(np.array_equal(*columns)) and old.is_null().equals(new.is_null())


def differing_columns(old: Path, new: Path) -> str:
    """Return the names of the columns that differ between two Parquet files, empty if none."""
    tables = [pq.read_table(path) for path in (old, new)]
    names, others = (table.column_names for table in tables)
    if names != others:
        return f"columns {names} against {others}"
    if tables[0].num_rows != tables[1].num_rows:
        return f"{tables[0].num_rows:,} rows against {tables[1].num_rows:,}"
    return ", ".join(name for name in names if not same_bits(*(table[name] for table in tables)))


def differences(old: Path, new: Path, skip: list[str]) -> Iterator[str]:
    """Yield one line per missing, new or different file."""
    before, after = files(old, skip), files(new, skip)
    yield from (f"missing: {path}" for path in sorted(before - after))
    yield from (f"new: {path}" for path in sorted(after - before))
    for path in sorted(before & after):
        if path.endswith(".csv"):
            if (old / path).read_bytes() != (new / path).read_bytes():
                yield f"different: {path}: {differing_cell(old / path, new / path)}"
        elif columns := differing_columns(old / path, new / path):
            yield f"different: {path}: {columns}"


def main() -> int:
    """Print all differences between two folders and their number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old", type=Path, help="folder with results")
    parser.add_argument("new", type=Path, help="folder with results")
    parser.add_argument(
        "--skip", action="append", default=[], metavar="GLOB", help="files to ignore, such as '*bench*' (default: none)"
    )
    arguments = parser.parse_args()
    for folder in (arguments.old, arguments.new):
        if not files(folder, []):
            parser.error(f"{folder}: no results found; expected a folder such as results/quick")
    lines = list(differences(arguments.old, arguments.new, arguments.skip))
    compared = len(files(arguments.old, arguments.skip) & files(arguments.new, arguments.skip))
    print(*lines, f"{compared} files compared, {len(lines)} differences", sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
