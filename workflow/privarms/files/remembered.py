"""What takes long to find out and follows from a text alone, kept below the user's cache under the text's digest."""

import contextlib
import hashlib
import os
import tempfile
import time
from functools import cache
from pathlib import Path

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "privarms", "remembered")
KEPT_DAYS = 30


def recall(text: str) -> str | None:
    """What was found out about a text; None if nothing was, or if nothing can be kept here. A machine that goes down
    may leave an empty file: what is kept must say more than nothing."""
    try:
        return _place(text).read_text(encoding="utf-8") or None
    except (OSError, RuntimeError, ValueError):
        return None


def remember(text: str, found: str) -> None:
    """Keep what was found out about a text; where it cannot be kept it will be found out again."""
    # RuntimeError: a user without a home; ValueError: a text that is not Unicode.
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        place = _place(text)
        _remove_old(place.parent)
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=place.parent, delete=False) as part:
            part.write(found)
        os.replace(part.name, place)


def _place(text: str) -> Path:
    return FOLDER.expanduser() / hashlib.sha256(text.encode()).hexdigest()


@cache
def _remove_old(folder: Path) -> None:
    before = time.time() - KEPT_DAYS * 86_400
    for file in folder.glob("*"):
        if file.is_file() and file.stat().st_mtime < before:
            file.unlink(missing_ok=True)
