"""Parquet files that carry their origin: resolved parameters, seed, package versions, git revision."""

import json
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from privarms import __version__
from privarms.errors import PrivarmsError
from privarms.files import whole

KEY = b"privarms"
PACKAGES = ("numpy", "scipy", "numba", "pandas", "pyarrow", "scikit-learn", "snakemake")
ROWS_PER_GROUP = 2**17


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
    """Write tables of one schema one after another; the bytes depend on them and the metadata alone."""
    tables = iter(tables)
    first = next(tables)
    text = json.dumps(metadata, sort_keys=True)
    schema = first.schema.with_metadata({KEY: text.encode()})
    with (
        whole(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        writer.write_table(first.cast(schema), row_group_size=ROWS_PER_GROUP)
        for table in tables:
            writer.write_table(table.cast(schema), row_group_size=ROWS_PER_GROUP)


def read(path: Path | str, columns: list[str] | None = None) -> pa.Table:
    """Read one file of ours; PrivarmsError says which file is damaged and what to do."""
    try:
        return pq.read_table(path, columns=columns, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        raise PrivarmsError(
            f"{path}: not a whole Parquet file ({' '.join(str(error).split())}); delete it and run again"
        ) from error


def metadata(path: Path | str) -> dict:
    """The origin that `write` put into a file."""
    return json.loads(pq.read_schema(path).metadata[KEY])
