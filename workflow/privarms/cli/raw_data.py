"""The command `privarms data`: fetch and verify every raw file, and print what is there and what is not."""

from collections.abc import Iterator
from pathlib import Path

from privarms.data import sources
from privarms.errors import PrivarmsError


def show(mirror: str | None = None) -> int:
    """Print a line per raw file; return 1 if one is wrong, else 0.

    mirror: a folder with raw files (default: the environment variable PRIVARMS_MIRROR, or none)
    """
    wrong = False
    for path, status, note in fetch_all(mirror=sources.choose_mirror(mirror)):
        print(f"{path}: {status}{f': {note}' if note else ''}", flush=True)
        wrong |= status == "wrong"
    return int(wrong)


def fetch_all(
    path: Path | str = sources.SOURCES, raw: Path | str = sources.RAW, mirror: str | None = None
) -> Iterator[tuple[Path, str, str]]:
    """Fetch the files that are not in place; yield the path, the status and a note of each.

    The status is `there` or `fetched`, `wrong`, with what was found, or `missing`, with the reason and how to get it.
    Raises PrivarmsError for a fault of sources.yaml.
    """
    seen = set()
    for dataset in sources.load_sources(path, mirror).values():
        for file in dataset.files:
            place = sources.raw_path(dataset, file, raw)
            # Variants of a dataset share files.
            if place in seen:
                continue
            seen.add(place)
            there = sources.here(dataset, file, raw, mirror)
            try:
                sources.fetch(dataset, file, raw, mirror)
            except PrivarmsError as error:
                yield place, "wrong" if there else "missing", str(error)
            else:
                yield place, "there" if there == place else "fetched", ""
