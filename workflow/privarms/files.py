"""Files that are either whole or not there: written under a temporary name, then renamed."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from privarms.errors import PrivarmsError


@contextlib.contextmanager
def whole(path: Path | str) -> Iterator[Path]:
    """Give a temporary name beside `path`; rename it to `path` on success, remove it on failure.

    Raises PrivarmsError where the folder cannot be written or the disk is full.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise PrivarmsError(
            f"{path}: cannot be written: {error.strerror or error}; free the disk or make the folder writable, "
            "then run again"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path | str, text: str) -> None:
    """Write a UTF-8 text file whole."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
