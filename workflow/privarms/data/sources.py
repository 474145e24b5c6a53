"""Raw files: where each comes from, and that it is what it must be.

A file is looked for at <raw>/<folder>/<name>, then at <mirror>/<folder>/<name>, then at its URL. Whatever is taken
is held against its SHA-256 first, where that is known, and appears under <raw> whole or not at all; what a connection
that broke off has left is hidden beside it and taken up again. Planning a run imports this module, so the package that
speaks HTTP is imported where it is needed.

The downloads are our own and not pooch's: pooch begins a broken download anew, writes an endless answer until the disk
is full, and waits for a slow one without end; what it has besides, checksums and a cache, takes a few lines here.
"""

import contextlib
import hashlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.files.whole import whole

RAW = Path("data/raw")
SOURCES = Path("data/sources.yaml")
MIRROR_VARIABLE = "PRIVARMS_MIRROR"
# How long all addresses together may take to answer at the start of a run.
PROBE_SECONDS = 3.0
CONNECT_SECONDS = 5.0
READ_SECONDS = 120.0
# Of a whole file, however often its download is taken up.
DOWNLOAD_SECONDS = 3000.0
# How large a file may be whose size is not known.
MOST_BYTES = 8 * 2**30
# How often a download is begun or taken up before it fails.
ATTEMPTS = 3
# In bytes: what has come of a piece when the connection breaks off is lost.
PIECE = 2**12


class RawFile(NamedTuple):
    """One raw file; exactly one of `url` and `by_hand` (instructions) is given.

    sha256: 64 hexadecimal digits, or None for a file that is not the same for everybody; rows: how many it must have;
    probe: an address that answers at once, where `url` takes long to begin
    """

    name: str
    sha256: str | None = None
    url: str | None = None
    by_hand: str | None = None
    bytes: int | None = None
    rows: int | None = None
    probe: str | None = None


class Dataset(NamedTuple):
    """A dataset's raw files, how they are read, and what must be said when they are used.

    module: the module that reads it, its own name by default, or None where `table` describes its columns
    folder: of its raw files, here and in a mirror, its own name by default
    options: those of its module, and `reduction`
    at_most: how many rows of the `target` and of all `auxiliary` sources are taken, the first ones; all by default
    """

    name: str
    title: str
    licence: str
    citation: str
    files: tuple[RawFile, ...]
    module: str | None
    folder: str
    options: Mapping[str, str]
    table: Mapping | None
    at_most: Mapping[str, int]

    @property
    def modules(self) -> list[str]:
        """The library module that reads it, below the package; none for a `table`."""
        return [f"data.{self.module}"] if self.module else []


def load_sources(path: Path | str = SOURCES) -> dict[str, Dataset]:
    """Read and validate sources.yaml; PrivarmsError names the file and the key."""
    content = settings.read(Path(path))
    settings.validate(content, "sources", path)
    return {name: describe(name, **entry) for name, entry in content.items()}


def describe(name: str, files: list[Mapping], **entry) -> Dataset:
    """A dataset from the keys of its entry in sources.yaml, with the defaults of those that are not there."""
    defaults = {
        "module": None if "table" in entry else name,
        "folder": name,
        "options": {},
        "table": None,
        "at_most": {},
    }
    return Dataset(name=name, files=tuple(RawFile(**f) for f in files), **{**defaults, **entry})


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
    return Path(raw) / dataset.folder / file.name


def ask(datasets: Iterable[Dataset], raw: Path | str = RAW, mirror: str | None = None) -> dict[str, str]:
    """address -> "" if it answers, else what happened, for every address from which a file that is not here may come.

    All are asked at once with one short request each; what has not answered after PROBE_SECONDS counts as absent.
    """
    addresses = set()
    for dataset in datasets:
        for file in dataset.files:
            if not raw_path(dataset, file, raw).exists():
                addresses |= {a for a in _places(dataset, file, mirror) if _is_address(a)}
    return _probe(sorted(addresses))


def locate(
    dataset: Dataset,
    file: RawFile,
    raw: Path | str = RAW,
    mirror: str | None = None,
    answers: Mapping[str, str] | None = None,
) -> str | None:
    """Where the file would come from, a path or an address; None if nowhere. Downloads nothing, verifies nothing.

    answers: what `ask` found; by default it is asked here
    """
    local = raw_path(dataset, file, raw)
    if local.exists():
        return str(local)
    for place in _places(dataset, file, mirror):
        known = answers if answers is not None or not _is_address(place) else _probe([place])
        if not _fault(place, known):
            return file.url if place == file.probe else place
    return None


def available(
    dataset: Dataset, raw: Path | str = RAW, mirror: str | None = None, answers: Mapping[str, str] | None = None
) -> bool:
    """Whether every raw file of a dataset can be had; stops at the first that cannot. answers: as for `locate`."""
    return all(locate(dataset, file, raw, mirror, answers) is not None for file in dataset.files)


def _places(dataset: Dataset, file: RawFile, mirror: str | None) -> list[str]:
    """Where a file that is not here is looked for, in order: the mirror, and what tells whether its URL answers."""
    return [place for place in (_in_mirror(dataset, file, mirror), file.probe or file.url) if place is not None]


def _fault(place: str, answers: Mapping[str, str] | None) -> str:
    """Why a file cannot come from a path or an address; empty where it can."""
    if _is_address(place):
        return answers.get(place, "was not asked")
    return "" if Path(place).exists() else "is not there"


def fetch(dataset: Dataset, file: RawFile, raw: Path | str = RAW, mirror: str | None = None) -> Path:
    """Bring a raw file to its place and return its path; a file that is already there is verified and left alone.

    Raises PrivarmsError for a file that cannot be had, a wrong checksum, an address that answers with an error,
    a connection that breaks off, or a folder that cannot be written. Nothing half-written stays in its place: what a
    broken connection has left is in a hidden file beside it, from which the next call goes on.
    """
    local = raw_path(dataset, file, raw)
    if local.exists():
        verify(file, local)
        return local
    mirrored = _in_mirror(dataset, file, mirror)
    answers = _probe([mirrored]) if mirrored is not None and _is_address(mirrored) else {}
    origin = mirrored if mirrored is not None and not _fault(mirrored, answers) else file.url
    if origin is None:
        raise PrivarmsError(missing_message(dataset, raw, mirror, answers))
    fault = f"{origin}: not the file that {local} must be", "report it to whoever keeps that copy"
    if _is_address(origin):
        _download(origin, local, file, fault)
    else:
        with whole(local) as part:
            _copy(origin, part)
            _check(part, file, *fault)
    return local


def verify(file: RawFile, path: Path | str) -> str:
    """The SHA-256 of a file, held against the one it must have; PrivarmsError names the file and both."""
    return _check(Path(path), file, f"{path}: the file is damaged or was changed", "delete it and run again")


def missing_message(
    dataset: Dataset,
    raw: Path | str = RAW,
    mirror: str | None = None,
    answers: Mapping[str, str] | None = None,
) -> str:
    """Which files a dataset needs, where to get them, where to put them, their checksums.

    answers: what `ask` found; then also where they were looked for, and what came of that
    """
    files = "; ".join(f"{raw_path(dataset, file, raw)} ({_origin(file)}; {_known_by(file)})" for file in dataset.files)
    message = (
        f"The raw data of {dataset.name} are not there. Put in place {files}, "
        f"or have a mirror ({MIRROR_VARIABLE}) that holds {dataset.folder}/{dataset.files[0].name}."
    )
    found = []
    for file in dataset.files if answers is not None else ():
        if not raw_path(dataset, file, raw).exists():
            places = {place: _fault(place, answers) for place in _places(dataset, file, mirror)}
            found += [f"{place} {fault}" for place, fault in places.items() if fault and fault != "was not asked"]
    return f"{message} Looked for: {'; '.join(found)}." if found else message


def _origin(file: RawFile) -> str:
    return f"from {file.url}" if file.url else f"by hand: {file.by_hand}"


def _known_by(file: RawFile) -> str:
    if file.sha256:
        return f"SHA-256 {file.sha256}"
    return (
        f"{file.rows:,} rows; its SHA-256 is not known"
        if file.rows
        else "what that address gives on the day; it has no fixed SHA-256"
    )


def _is_address(place: str) -> bool:
    return str(place).startswith(("http://", "https://"))


def _in_mirror(dataset: Dataset, file: RawFile, mirror: str | None) -> str | None:
    if mirror is None:
        return None
    if _is_address(mirror):
        return f"{mirror.rstrip('/')}/{dataset.folder}/{file.name}"
    return str(Path(mirror) / dataset.folder / file.name)


def _probe(addresses: list[str]) -> dict[str, str]:
    """address -> "" if it answers with 200, else what happened; all together take no longer than PROBE_SECONDS."""
    late = f"did not answer within {PROBE_SECONDS:g} s"
    answers: dict[str, str] = {}

    def probe(address: str) -> None:
        import requests

        try:
            with requests.get(address, stream=True, timeout=PROBE_SECONDS) as response:
                fine = response.status_code == 200
                answers[address] = "" if fine else f"answered {response.status_code} {response.reason}"
        except requests.Timeout:
            answers[address] = late
        except requests.RequestException as error:
            answers[address] = f"cannot be reached ({type(error).__name__})"

    # requests bounds each wait on a socket, but neither the look-up of a name nor the sum of the waits.
    threads = [threading.Thread(target=probe, args=(address,), daemon=True) for address in addresses]
    end = time.monotonic() + PROBE_SECONDS
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(end - time.monotonic(), 0))
    return {address: answers.get(address, late) for address in addresses}


class _TooLongError(Exception):
    """An answer is longer than the file."""


def _download(address: str, local: Path, file: RawFile, fault: tuple[str, str]) -> None:
    """Fetch an address into its place, going on where a connection broke off, in this run or in an earlier one."""
    import requests

    by_hand = f"try again, or put the file at {local} yourself"
    part, origin = local.with_name(f".{local.name}.part"), local.with_name(f".{local.name}.part.json")
    end = time.monotonic() + DOWNLOAD_SECONDS
    with _written(local):
        local.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, ATTEMPTS + 1):
            had = part.stat().st_size if part.exists() else 0
            try:
                resumed = _within(end, _receive, address, part, origin, file)
            except requests.HTTPError as error:
                status = f"{error.response.status_code} {error.response.reason}"
                raise PrivarmsError(f"{address}: the server answered {status}; {by_hand}") from error
            except requests.RequestException as error:
                has = part.stat().st_size if part.exists() else 0
                if attempt < ATTEMPTS and has > had:
                    continue
                begun = isinstance(error, requests.exceptions.ChunkedEncodingError) or has > had
                what = "the connection broke off before the end of the file" if begun else "no connection"
                raise PrivarmsError(f"{address}: {what} ({type(error).__name__}); {by_hand}") from error
            except TimeoutError:
                has = part.stat().st_size if part.exists() else 0
                raise PrivarmsError(
                    f"{address}: {has:,} bytes after {DOWNLOAD_SECONDS / 60:.2g} minutes, and not the end of the file; "
                    f"run again to go on from there, or put the file at {local} yourself"
                ) from None
            except _TooLongError:
                _discard(part, origin)
                expected = (
                    f"the {file.bytes:,} bytes that {file.name} has (`bytes` in the list of sources)"
                    if file.bytes
                    else f"{MOST_BYTES:,} bytes, the most that is taken where the list of sources says no `bytes`"
                )
                raise PrivarmsError(
                    f"{address}: the answer is longer than {expected}; nothing of it was kept; put the right file at "
                    f"{local} yourself, or correct the list of sources"
                ) from None
            try:
                _check(part, file, *fault)
            except PrivarmsError:
                _discard(part, origin)
                # What was there may have been the beginning of another file.
                if resumed and attempt < ATTEMPTS:
                    continue
                raise
            os.replace(part, local)
            _discard(origin)
            return


def _within(end: float, work: Callable, *arguments):
    """`work(*arguments, stop)` until a time of the monotonic clock, then TimeoutError; whatever waits on a socket then,
    byte by byte perhaps, ends with the process, and writes nothing any more once `stop` is set."""
    stop, done = threading.Event(), []

    def run() -> None:
        try:
            done.append((work(*arguments, stop), None))
        except Exception as error:
            done.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(end - time.monotonic(), 0))
    stop.set()
    if not done:
        raise TimeoutError
    result, error = done[0]
    if error is not None:
        raise error
    return result


def _receive(address: str, part: Path, origin: Path, file: RawFile, stop: threading.Event) -> bool:
    """Write an answer to `part`, or append the rest of it to what an earlier answer left there; whether it did that.

    What is there is gone on with if it came from this address, and if the server can say that the file has not changed
    since (`If-Range`) or its SHA-256 will. `origin` keeps the address and the server's mark of the file's version.
    """
    import requests

    # The server must not re-encode the body: its length is what tells a cut connection from a whole file.
    headers = {"Accept-Encoding": "identity"}
    before = _read_origin(origin)
    size = part.stat().st_size if part.exists() else 0
    if size and before.get("address") == address and (before["version"] or file.sha256):
        headers["Range"] = f"bytes={size}-"
        if before["version"]:
            headers["If-Range"] = before["version"]
    with requests.get(address, headers=headers, stream=True, timeout=(CONNECT_SECONDS, READ_SECONDS)) as response:
        partial = "Range" in headers and response.status_code in (206, 416)
        resumed = partial and response.headers.get("Content-Range", "").startswith(f"bytes {size}-")
        if partial and not resumed:
            # Nothing is left to send, or other bytes were sent than those that were asked for: begin anew.
            _discard(part, origin)
            return _receive(address, part, origin, file, stop)
        response.raise_for_status()
        if stop.is_set():
            return resumed
        if not resumed:
            etag = response.headers.get("ETag", "")
            version = etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")
            _discard(part)
            origin.write_text(json.dumps({"address": address, "version": version}), encoding="utf-8")
            size = 0
        with open(part, "ab", buffering=0) as stream:
            for piece in response.iter_content(PIECE):
                size += len(piece)
                if size > (file.bytes or MOST_BYTES):
                    raise _TooLongError
                if stop.is_set():
                    break
                stream.write(piece)
    return resumed


def _read_origin(origin: Path) -> dict:
    """The address and the version behind a partial file; empty where that is not known."""
    try:
        return {"version": None, **json.loads(origin.read_text(encoding="utf-8"))}
    except (OSError, ValueError, TypeError):
        return {}


def _discard(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PrivarmsError(
            f"{path}: cannot be written: {error.strerror or error}; free the disk or make the folder writable, "
            "then run again"
        ) from error


def _copy(origin: str, part: Path) -> None:
    if not (Path(origin).is_file() and os.access(origin, os.R_OK)):
        raise PrivarmsError(f"{origin}: cannot be read; make it a readable file or remove it")
    shutil.copyfile(origin, part)


def _check(path: Path, file: RawFile, fault: str, remedy: str) -> str:
    try:
        with open(path, "rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise PrivarmsError(f"{path}: cannot be read ({error.strerror}); expected the raw file {file.name}") from error
    size = path.stat().st_size
    if file.sha256 is None and file.bytes and size != file.bytes:
        raise PrivarmsError(f"{fault}: expected {file.bytes:,} bytes, found {size:,}; {remedy}")
    if file.sha256 is not None and found != file.sha256:
        sizes = f" and {file.bytes:,} bytes" if file.bytes and file.bytes != size else ""
        found_size = f" and {size:,} bytes" if sizes else ""
        raise PrivarmsError(f"{fault}: expected SHA-256 {file.sha256}{sizes}, found {found}{found_size}; {remedy}")
    return found
