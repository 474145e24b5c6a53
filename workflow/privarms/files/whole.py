"""Files that are either complete or missing: written under a temporary name, then renamed. Digests of files."""

import contextlib
import csv
import hashlib
import io
import os
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from privarms.errors import PrivarmsError
from privarms.files import signatures


@contextlib.contextmanager
def whole(path: Path | str) -> Iterator[Path]:
    """Yield a temporary name next to `path`; rename it to `path` on success, remove it on failure.

    Raises PrivarmsError for a path without a file name, or if the folder cannot be written or the disk is full.
    """
    path = Path(path)
    if not path.name:
        raise PrivarmsError(f"{path}: expected the name of a file to write; found a folder")
    # Two processes may write the same file, such as a raw file, at the same time.
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise PrivarmsError(
            f"{path}: cannot be written: {reason}; free the disk or make the folder writable, then run again"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path | str, text: str) -> None:
    """Write a UTF-8 text file atomically."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def sha256(path: Path | str) -> str:
    """Return the SHA-256 of a file, 64 hexadecimal digits. An unchanged file is read once per process."""
    about = os.stat(path)
    return _sha256(str(path), about.st_size, about.st_mtime_ns)


@cache
def _sha256(path: str, _size: int, _changed: int) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_csv(path: Path | str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file as texts. Raises PrivarmsError for a malformed file."""
    (_, header), *rows = csv_rows(path)
    return header, [row for _, row in rows]


def csv_rows(path: Path | str, descriptor: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line's number and the fields, as texts, of each row of a CSV file, the header first.

    descriptor: of an open file that is read, such as 0; `path` then is its name in messages
    Only one row is in memory at a time. Blanks after a comma do not matter. Raises PrivarmsError for a malformed file.
    """
    last, fields = 0, None
    try:
        with open(path if descriptor is None else descriptor, "rb", closefd=descriptor is None) as binary:
            if reason := signatures.not_text(binary.peek(signatures.LONGEST)):
                raise PrivarmsError(f"{path}: {reason}")
            rows = csv.reader(io.TextIOWrapper(binary, encoding="utf-8-sig", newline=""), skipinitialspace=True)
            for row in rows:
                fields = len(row) if fields is None else fields
                if len(row) != fields:
                    raise PrivarmsError(
                        f"{path}: line {last + 1}: found {len(row)} fields, expected {fields}; write the file again."
                    )
                yield last + 1, row
                last = rows.line_num
    except OSError as error:
        raise PrivarmsError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise PrivarmsError(
            f"{path}: cannot be read as CSV in UTF-8 after line {last} ({error}). Write the file again."
        ) from error
    if fields is None:
        raise PrivarmsError(f"{path}: is empty. Expected a header line with column names. Write the file again.")
