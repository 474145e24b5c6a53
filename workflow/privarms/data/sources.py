"""Raw files: where each comes from, and that it is what it must be.

A file is looked for at <raw>/<dataset>/<name>, then at <mirror>/<dataset>/<name>, then at its URL. Whatever is taken
is held against its SHA-256 first and appears under <raw> whole or not at all. Planning a run imports this module, so
the packages that speak HTTP are imported where they are needed.
"""

import hashlib
import os
import shutil
import threading
from pathlib import Path
from typing import NamedTuple

from privarms.errors import PrivarmsError
from privarms.files import whole
from privarms.studies import configuration

RAW = Path("data/raw")
SOURCES = Path("data/sources.yaml")
MIRROR_VARIABLE = "PRIVARMS_MIRROR"
PROBE_SECONDS = 4.0
CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0


class RawFile(NamedTuple):
    """One raw file; exactly one of `url` and `by_hand` (instructions) is given. sha256: 64 hexadecimal digits."""

    name: str
    sha256: str
    url: str | None = None
    by_hand: str | None = None
    bytes: int | None = None


class Dataset(NamedTuple):
    """A dataset's raw files and what must be said when they are used."""

    name: str
    title: str
    licence: str
    citation: str
    files: tuple[RawFile, ...]


def load_sources(path: Path | str = SOURCES) -> dict[str, Dataset]:
    """Read and validate sources.yaml; PrivarmsError names the file and the key."""
    content = configuration.read(Path(path))
    configuration.validate(content, "sources", path)
    datasets = {}
    for name, entry in content.items():
        files = tuple(RawFile(**f) for f in entry["files"])
        datasets[name] = Dataset(name, entry["title"], entry["licence"], entry["citation"], files)
    return datasets


def choose_mirror(configured: str | None = None) -> str | None:
    """The mirror in force: the configured one, else the environment variable PRIVARMS_MIRROR, else none.

    Raises PrivarmsError if it is neither an http(s) address nor a folder: a mistyped mirror should not go unseen.
    """
    mirror = configured or os.environ.get(MIRROR_VARIABLE) or None
    if mirror is not None and not _is_address(mirror) and not Path(mirror).is_dir():
        raise PrivarmsError(
            f"mirror: {mirror} is neither a folder nor an http(s) address; "
            f"correct --config mirror=... or {MIRROR_VARIABLE}"
        )
    return mirror


def raw_path(dataset: Dataset, file: RawFile, raw: Path | str = RAW) -> Path:
    """Where a raw file lies once it is there."""
    return Path(raw) / dataset.name / file.name


def locate(dataset: Dataset, file: RawFile, raw: Path | str = RAW, mirror: str | None = None) -> str | None:
    """Where the file would come from, a path or an address; None if nowhere. Downloads nothing, verifies nothing.

    An address is probed with one short request; one that does not answer within PROBE_SECONDS counts as absent.
    """
    local = raw_path(dataset, file, raw)
    if local.exists():
        return str(local)
    mirrored = _in_mirror(dataset, file, mirror)
    if mirrored is not None and (_answers(mirrored) if _is_address(mirrored) else Path(mirrored).exists()):
        return mirrored
    return file.url if file.url is not None and _answers(file.url) else None


def available(dataset: Dataset, raw: Path | str = RAW, mirror: str | None = None) -> bool:
    """Whether every raw file of a dataset can be had; stops at the first that cannot."""
    return all(locate(dataset, file, raw, mirror) is not None for file in dataset.files)


def fetch(dataset: Dataset, file: RawFile, raw: Path | str = RAW, mirror: str | None = None) -> Path:
    """Bring a raw file to its place and return its path; a file that is already there is verified and left alone.

    Raises PrivarmsError for a file that cannot be had, a wrong checksum, an address that answers with an error,
    a connection that breaks off, or a folder that cannot be written. Nothing half-written stays behind.
    """
    local = raw_path(dataset, file, raw)
    if local.exists():
        verify(file, local)
        return local
    mirrored = _in_mirror(dataset, file, mirror)
    if mirrored is not None and _is_address(mirrored):
        origin = mirrored if _answers(mirrored) else file.url
    else:
        origin = mirrored if mirrored is not None and Path(mirrored).exists() else file.url
    if origin is None:
        raise PrivarmsError(missing_message(dataset, raw))
    with whole(local) as part:
        if _is_address(origin):
            _download(origin, part, file, local)
        else:
            _copy(origin, part)
        _check(part, file, f"{origin}: not the file that {local} must be", "report it to whoever keeps that copy")
    return local


def fetch_all(dataset: Dataset, raw: Path | str = RAW, mirror: str | None = None) -> list[Path]:
    """`fetch` every raw file of a dataset; their paths in the order of sources.yaml."""
    return [fetch(dataset, file, raw, mirror) for file in dataset.files]


def verify(file: RawFile, path: Path | str) -> None:
    """Hold a file against its SHA-256; PrivarmsError names the file, the expected and the found checksum."""
    _check(Path(path), file, f"{path}: the file is damaged or was changed", "delete it and run again")


def missing_message(dataset: Dataset, raw: Path | str = RAW) -> str:
    """One sentence: which files a dataset needs, where to get them, where to put them, their checksums."""
    files = "; ".join(
        f"{raw_path(dataset, file, raw)} (from {file.url or file.by_hand}, SHA-256 {file.sha256})"
        for file in dataset.files
    )
    return (
        f"The raw data of {dataset.name} cannot be had: put in place {files}, "
        f"or name a mirror that holds {dataset.name}/{dataset.files[0].name} with {MIRROR_VARIABLE}."
    )


def _is_address(place: str) -> bool:
    return str(place).startswith(("http://", "https://"))


def _in_mirror(dataset: Dataset, file: RawFile, mirror: str | None) -> str | None:
    if mirror is None:
        return None
    if _is_address(mirror):
        return f"{mirror.rstrip('/')}/{dataset.name}/{file.name}"
    return str(Path(mirror) / dataset.name / file.name)


def _answers(address: str) -> bool:
    """Whether an address answers with 200 within PROBE_SECONDS, name resolution included."""
    import requests

    answered = []

    def probe() -> None:
        try:
            with requests.get(address, stream=True, timeout=PROBE_SECONDS) as response:
                answered.append(response.status_code == 200)
        except requests.RequestException:
            answered.append(False)

    # requests bounds each wait on a socket, but neither the look-up of a name nor the sum of the waits.
    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    thread.join(PROBE_SECONDS)
    return bool(answered) and answered[0]


def _download(address: str, part: Path, file: RawFile, local: Path) -> None:
    import pooch
    import requests

    by_hand = f"try again, or put the file at {local} yourself"
    # The server must not re-encode the body: its length is what tells a cut connection from a whole file.
    download = pooch.HTTPDownloader(
        timeout=(CONNECT_SECONDS, READ_SECONDS), chunk_size=2**16, headers={"Accept-Encoding": "identity"}
    )
    try:
        download(address, str(part), None)
    except requests.HTTPError as error:
        status = f"{error.response.status_code} {error.response.reason}"
        raise PrivarmsError(f"{address}: the server answered {status}; {by_hand}") from error
    except requests.RequestException as error:
        begun = isinstance(error, requests.exceptions.ChunkedEncodingError) or (part.exists() and part.stat().st_size)
        fault = "the connection broke off before the end of the file" if begun else "no connection"
        raise PrivarmsError(f"{address}: {fault} ({type(error).__name__}); {by_hand}") from error


def _copy(origin: str, part: Path) -> None:
    if not (Path(origin).is_file() and os.access(origin, os.R_OK)):
        raise PrivarmsError(f"{origin}: cannot be read; make it a readable file or remove it")
    shutil.copyfile(origin, part)


def _check(path: Path, file: RawFile, fault: str, remedy: str) -> None:
    try:
        with open(path, "rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise PrivarmsError(f"{path}: cannot be read ({error.strerror}); expected the raw file {file.name}") from error
    if found != file.sha256:
        size = path.stat().st_size
        sizes = f" and {file.bytes:,} bytes" if file.bytes and file.bytes != size else ""
        found_size = f" and {size:,} bytes" if sizes else ""
        raise PrivarmsError(f"{fault}: expected SHA-256 {file.sha256}{sizes}, found {found}{found_size}; {remedy}")
