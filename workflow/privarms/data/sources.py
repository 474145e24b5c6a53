"""Raw files: their places, downloads and checksums.

A file is searched at <raw>/<folder>/<name>, then at <mirror>/<folder>/<name>, then at its URL. A known checksum is
verified. Planning a run imports this module, so packages for HTTP are imported only where they are used.
"""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Self, cast
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, RootModel, model_validator

from privarms.errors import PrivarmsError
from privarms.files import settings, signatures
from privarms.files.model import Different, Model, Text, Whole, checked, expected, fault, key_fault, matching
from privarms.files.whole import sha256, whole

RAW = Path("data/raw")
SOURCES = Path("data/sources.yaml")
MIRROR_VARIABLE = "PRIVARMS_MIRROR"
# Seconds until a server must begin its answer, at the start of a run and in a download.
PROBE_SECONDS = 3.0
READ_SECONDS = 120.0
RETRIES = 2
# The first and last bytes of a Parquet file.
PARQUET = b"PAR1"
# The suffixes of files that are text.
TEXTS = (".csv", ".tsv", ".txt")


FileName = Annotated[str, *matching("^[A-Za-z0-9][A-Za-z0-9._-]*$", "a file name of letters, digits, and . _ -")]
Address = Annotated[str, *matching("^https?://", "an address that begins with http:// or https://")]
Rows = Annotated[Whole, Field(ge=1)]


def _is_text(word: Any) -> Any:
    if not isinstance(word, str) or not word:
        raise expected("a text; put words such as null and numbers in quotes")
    return word


Columns = Different[Text]
Word = Annotated[str, BeforeValidator(_is_text)]


class RawFile(Model):
    """One raw file; exactly one of `url` and `by_hand` (instructions) is given.

    sha256: 64 hexadecimal digits, or None for a file that differs between downloads; git_blob: the output of
    `git hash-object`, if only that is known; rows: its number of rows;
    probe: an address that answers at once, for a `url` that is slow to begin
    """

    name: FileName
    sha256: Annotated[str, *matching("^[0-9a-f]{64}$", "64 hexadecimal digits")] | None = None
    url: Address | None = None
    by_hand: Text | None = None
    rows: Rows | None = None
    probe: Address | None = None
    git_blob: Annotated[str, *matching("^[0-9a-f]{40}$", "40 hexadecimal digits")] | None = None

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if (self.url is None) == (self.by_hand is None):
            found = "none" if self.url is None else "both"
            raise fault(f"expected one of the keys 'url' and 'by_hand'; found {found}")
        if self.probe is not None and self.url is None:
            raise key_fault("probe", "expected no such key without 'url'; remove it")
        return self


class Sizes(Model):
    """Numbers of rows."""

    target: Rows | None = None
    auxiliary: Rows | None = None


class SourceColumn(Model):
    """The column of the sources, and the value of the target in it."""

    column: Text
    target: Text


class OwnTable(Model):
    """The columns of a user's own file; docs/own-data.md explains the keys."""

    label: Text
    source: SourceColumn | None = None
    leave_out: Columns = Field(default_factory=list)
    numbers: Columns = Field(default_factory=list)
    texts: Columns = Field(default_factory=list)
    missing: Different[Word] = Field(default_factory=list)
    incomplete: Columns = Field(default_factory=list)
    delimiter: Literal[",", ";", "\t", "|"] = ","


class Entry(Model):
    """An entry of sources.yaml."""

    title: Text
    licence: Text
    citation: Text
    module: Annotated[str, *matching("^[a-z][a-z0-9_]*$", "the name of a module")] | None = None
    folder: FileName | None = None
    options: dict[str, str] = Field(default_factory=dict)
    at_most: Sizes = Field(default_factory=Sizes)
    expected: Sizes = Field(default_factory=Sizes)
    table: OwnTable | None = None
    files: Annotated[list[RawFile], Field(min_length=1)]
    otherwise: Annotated[list[RawFile], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _check_table(self) -> Self:
        if self.table is not None:
            if self.module is not None:
                raise key_fault("module", "expected no such key next to 'table'; remove one of them")
            if len(self.files) > 1 or not self.files[0].name.endswith((".csv", ".tsv", ".txt", ".parquet")):
                raise key_fault("files", "expected one .csv, .tsv, .txt or .parquet file next to 'table'")
        return self


DatasetName = Annotated[str, *matching("^[a-z][a-z0-9]*$", "a name of lower-case letters and digits")]


class SourcesFile(RootModel[Annotated[dict[DatasetName, Entry], Field(min_length=1)]]):
    """The content of sources.yaml."""


class Dataset(NamedTuple):
    """A dataset: its raw files, how to read them, licence and citation.

    module: the module that reads it (default: its name; own_table with a `table`)
    folder: the folder of its raw files, here and in a mirror (default: its name)
    options: the options of its module, and `reduction`
    at_most: limits on the rows of the `target` and of all `auxiliary` sources, which keep the first ones (default: all)
    expected: the numbers of these rows in the right files, if known
    otherwise: files with the same content, used instead if all of them are in place or in the mirror
    sources: the file that describes it, if it belongs to an extension
    """

    name: str
    title: str
    licence: str
    citation: str
    files: tuple[RawFile, ...]
    module: str
    folder: str
    options: Mapping[str, str] = MappingProxyType({})
    table: OwnTable | None = None
    at_most: Mapping[str, int] = MappingProxyType({})
    expected: Mapping[str, int] = MappingProxyType({})
    otherwise: tuple[RawFile, ...] = ()
    sources: str | None = None


def load_sources(path: Path | str = SOURCES, mirror: str | None = None) -> dict[str, Dataset]:
    """Read and validate sources.yaml; PrivarmsError names the file and the key."""
    entries = checked(SourcesFile, settings.read(Path(path)), path).root
    return {name: with_files(_described(name, entry), mirror=mirror) for name, entry in entries.items()}


def beside(path: Path) -> dict[str, Dataset]:
    """Return the datasets of an extension's sources.yaml, whose raw files are next to it: raw/<folder>/<name>.

    There are none if the file does not exist. The files are used where they are: nothing is fetched.
    """
    own = {}
    for name, dataset in (load_sources(path) if path.is_file() else {}).items():
        files = [f.model_copy(update={"url": None, "by_hand": f.by_hand or f"copy {f.url}"}) for f in dataset.files]
        folder = str(path.parent.resolve() / "raw" / dataset.folder)
        own[name] = dataset._replace(folder=folder, sources=str(path), files=tuple(files), otherwise=())
    return own


def describe(name: str, files: list[Mapping], **entry) -> Dataset:
    """Return a dataset from the keys of its entry in sources.yaml, with the defaults of missing ones."""
    return _described(name, Entry.model_validate({"files": files, **entry}))


def _described(name: str, entry: Entry) -> Dataset:
    return Dataset(
        name=name,
        title=entry.title,
        licence=entry.licence,
        citation=entry.citation,
        files=tuple(entry.files),
        module=entry.module or (name if entry.table is None else "own_table"),
        folder=entry.folder or name,
        options=entry.options,
        table=entry.table,
        at_most=entry.at_most.model_dump(exclude_unset=True),
        expected=entry.expected.model_dump(exclude_unset=True),
        otherwise=tuple(entry.otherwise or ()),
    )


def with_files(dataset: Dataset, raw: Path | str = RAW, mirror: str | None = None) -> Dataset:
    """Return the dataset with the files of `otherwise` if all of them exist."""
    present = dataset.otherwise and all(here(dataset, file, raw, mirror) for file in dataset.otherwise)
    return dataset._replace(files=dataset.otherwise) if present else dataset


def choose_mirror(configured: str | None = None) -> str | None:
    """Return the configured mirror, else the environment variable PRIVARMS_MIRROR, else None.

    Raises PrivarmsError if the mirror is not a folder: a mistyped mirror must not be ignored.
    """
    mirror = configured or os.environ.get(MIRROR_VARIABLE) or None
    mirror = mirror and os.path.expanduser(mirror)
    if mirror is not None and not Path(mirror).is_dir():
        raise PrivarmsError(f"mirror: no folder {mirror}; correct --config mirror=... or {MIRROR_VARIABLE}")
    return mirror


def raw_path(dataset: Dataset, file: RawFile, raw: Path | str = RAW) -> Path:
    """Return the path of a raw file in the project."""
    return Path(raw) / dataset.folder / file.name


def obtainable(datasets: Iterable[Dataset], raw: Path | str = RAW, mirror: str | None = None) -> set[str]:
    """Return the datasets whose raw files are all in place, in the mirror, or at an address that answers.

    Probes all addresses at the same time and downloads nothing.
    """
    absent = {d.name: [file for file in d.files if not here(d, file, raw, mirror)] for d in datasets}
    addresses = sorted({file.probe or file.url for files in absent.values() for file in files if file.url})
    with ThreadPoolExecutor(max_workers=16) as pool:
        answers: dict[str | None, bool] = dict(zip(addresses, pool.map(_answers, addresses), strict=True))
    return {name for name, files in absent.items() if all(answers.get(file.probe or file.url) for file in files)}


def here(dataset: Dataset, file: RawFile, raw: Path | str = RAW, mirror: str | None = None) -> Path | None:
    """Return the path of a file that is in place, else in the mirror, else None."""
    paths = [raw_path(dataset, file, raw), *([raw_path(dataset, file, mirror)] if mirror else [])]
    return next((path for path in paths if path.exists()), None)


def fetch(dataset: Dataset, file: RawFile, raw: Path | str = RAW, mirror: str | None = None) -> Path:
    """Copy or download a raw file to its place and return its path; an existing file is only verified.

    Raises PrivarmsError for a file that cannot be obtained, a wrong checksum, or a folder that is not writable. Then
    nothing is left in its place.
    """
    local = raw_path(dataset, file, raw)
    place = here(dataset, file, raw, mirror)
    if place:
        verify(file, place)
        if place != local:
            with whole(local) as part:
                shutil.copyfile(place, part)
    elif file.url:
        _download(file, local)
    else:
        raise PrivarmsError(missing_message(dataset, raw))
    return local


def _download(file: RawFile, local: Path) -> None:
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    cache = pooch.create(
        path=local.parent,
        base_url="",
        registry={file.name: file.sha256},
        urls={file.name: file.url},
        retry_if_failed=RETRIES,
    )
    download = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=READ_SECONDS)

    def checked_download(url: str, output_file: str, pooch: Any) -> None:
        """Download, and raise ValueError for a file that cannot be the right one."""
        download(url, output_file, pooch)
        found = other_content(file, output_file)
        if found and (file.sha256 is None or file.sha256 != sha256(output_file)):
            wanted = f"SHA-256 {file.sha256}" if file.sha256 else _kind(file)
            raise ValueError(f"the answer is {found}; expected {wanted}")
        # pooch's temporary file is readable only by its owner; the others who share the folder need it too.
        umask = os.umask(0o077)
        os.umask(umask)
        os.chmod(output_file, 0o666 & ~umask)

    try:
        # pooch calls it by position, but the names of arguments in its type are others.
        cache.fetch(file.name, downloader=cast(Any, checked_download))
    except (requests.RequestException, ValueError) as error:
        raise PrivarmsError(f"{file.url}: {_reason(error, file)}, or copy the file to {local}") from error
    except OSError as error:
        if error.errno is None:
            raise PrivarmsError(f"{file.url}: {error}; correct REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE") from error
        raise PrivarmsError(
            f"{local}: cannot be written: {error.strerror}; free the disk or make the folder writable"
        ) from error


def _reason(error: Exception, file: RawFile) -> str:
    """Return why a download failed, and what to do. The text of requests repeats the address and names its classes."""
    import requests

    address = urlsplit(file.url)
    text = " ".join(str(error).split())
    if isinstance(error, requests.exceptions.SSLError):
        detail = re.search(r"\] ([^(']+)", text)
        what = f"no secure connection to {address.hostname}{f': {detail[1].strip()}' if detail else ''}"
        return f"{what}; if your network has certificates of its own, set REQUESTS_CA_BUNDLE to their file"
    if isinstance(error, requests.exceptions.ProxyError):
        # Its address may contain a password.
        return f"no connection to the proxy; correct or unset {str(address.scheme).upper()}_PROXY"
    if "Read timed out" in text:
        return f"no answer from {address.hostname} for {READ_SECONDS:.0f} seconds; try again"
    if isinstance(error, requests.ConnectionError):
        return f"no connection to {address.hostname}; try again"
    return f"{text}; try again"


def verify(file: RawFile, path: Path | str) -> str:
    """Return the SHA-256 of a file.

    Raises PrivarmsError for a file that cannot be read, and if a checksum is not the expected one. Without a checksum
    it does so for a file that cannot be the right one, such as the page of a login.
    """
    try:
        digest, content = sha256(path), other_content(file, path)
        git_blob = _git_blob(path) if file.git_blob else None
    except OSError as error:
        raise PrivarmsError(f"{path}: cannot be read: {error.strerror}; expected a readable file") from error
    checks = (("SHA-256", file.sha256, digest), ("git blob", file.git_blob, git_blob))
    for kind, wanted, actual in checks:
        if wanted not in (None, actual):
            found = f"{actual} ({content})" if content else actual
            raise PrivarmsError(f"{path}: wrong file: expected {kind} {wanted}, found {found}; {_again(file)}")
    if content and file.sha256 is None and file.git_blob is None:
        raise PrivarmsError(f"{path}: wrong file: expected {_kind(file)}, found {content}; {_again(file)}")
    return digest


def _git_blob(path: Path | str) -> str:
    """Return the output of `git hash-object`, which hashes a header with the file's length, then the content."""
    with open(path, "rb") as stream:
        digest = hashlib.sha1(b"blob %d\0" % os.fstat(stream.fileno()).st_size, usedforsecurity=False)
        while chunk := stream.read(2**20):
            digest.update(chunk)
    return digest.hexdigest()


def other_content(file: RawFile, path: Path | str) -> str | None:
    """Return what a file is if its first and last bytes show that it is not of the kind of its name, else None.

    Portals answer with status 200 and a page of a login, an error in JSON, nothing or the names of the columns alone.
    """
    with open(path, "rb") as stream:
        head = stream.read(10_000)
        stream.seek(max(stream.seek(0, os.SEEK_END) - 4, 0))
        tail = stream.read()
    text = head.decode("utf-8-sig", errors="replace").lstrip()
    if not text:
        return "an empty file"
    if text.startswith("version https://git-lfs"):
        return "a pointer of Git LFS instead of the file"
    if re.match(r"<(!doctype|html|head|body|\?xml)", text, re.IGNORECASE):
        return "a page in HTML or XML, such as a login or an error"
    if file.name.endswith(".parquet"):
        return None if head[:4] == tail == PARQUET else "no complete Parquet file"
    if file.name.endswith(TEXTS) and (known := signatures.known(head)):
        return known[0]
    if re.match(r'(\[\s*)?\{\s*"', text):
        return f"JSON: {' '.join(text[:100].split())}"
    return None if "\n" in text.strip() or len(head) == 10_000 else "a single line"


def _kind(file: RawFile) -> str:
    return "a Parquet file" if file.name.endswith(".parquet") else "a table as text"


def _again(file: RawFile) -> str:
    return f"delete it and get it again ({file.url or file.by_hand})"


def missing_message(dataset: Dataset, raw: Path | str = RAW) -> str:
    """Return the files that a dataset needs: where to get them, where to put them, and their checksums."""
    ways = [
        "; ".join(f"{raw_path(dataset, file, raw)} ({_origin(file)})" for file in files)
        for files in (dataset.files, dataset.otherwise)
        if files
    ]
    return (
        f"Raw data of {dataset.name} not found. Provide {', or '.join(ways)}, "
        f"or set a mirror ({MIRROR_VARIABLE}) that contains {dataset.folder}/{dataset.files[0].name}."
    )


def _origin(file: RawFile) -> str:
    known = f"SHA-256 {file.sha256}" if file.sha256 else f"{file.rows:,} rows" if file.rows else "no fixed SHA-256"
    return f"from {file.url}; {known}" if file.url else f"manual step: {file.by_hand}; {known}"


def _answers(address: str) -> bool:
    import requests

    try:
        with requests.get(address, stream=True, timeout=PROBE_SECONDS) as response:
            return response.status_code == 200
    except OSError:
        # Also for a file of certificates that does not exist, which is no error of requests itself.
        return False
