"""Digests of the files that a job uses: an edit runs the job again, and an edit during a run is an error."""

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from privarms.files import whole
from privarms.registry import extensions, imported
from privarms.registry.extensions import ROOT, shown
from privarms.registry.imported import remembered
from privarms.registry.source_files import SCRIPTS, sources

# The versions of all packages that jobs use.
LOCK = ROOT.parents[1] / "uv.lock"
# A file with the digest of each file at the start of a run, by the name that messages use. The variable does not have
# the digests themselves, because Grid Engine cuts variables that are longer than about 10,000 bytes.
TEXTS_VARIABLE = "PRIVARMS_TEXTS"
TEXTS_FOLDER = ".snakemake"


class Digest(str):
    """A digest of files, which Snakemake records and shows as this text; files: the digest of each file's text.

    In a rule it is the result of a function, because Snakemake copies a constant text.
    """

    files: Mapping[str, str]


def record() -> None:
    """Keep the digest of each file of the library and of extensions for this process and those that it starts.

    On a cluster the Snakemake process of a job reads the files again, perhaps after an edit. The digests are in a file
    of the run's folder, whose name depends on its text: a dry run after an edit does not change it.

    Raises PrivarmsError if the file cannot be written.
    """
    rooms = (ROOT, SCRIPTS, *(place / room for place in extensions.folders() for room in extensions.OWN_ROOMS))
    modules = [file for room in rooms for file in room.rglob("*.py")]
    files = [LOCK, *modules, *(file for module in modules for file in imported.beside(module) if file.is_file())]
    text = json.dumps({shown(file): _text(str(file)) for file in files})
    recorded = Path(TEXTS_FOLDER, f"texts-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json").absolute()
    if not recorded.exists():
        whole.write_text(recorded, text)
    os.environ[TEXTS_VARIABLE] = str(recorded)


def edited(planned: Digest) -> list[str]:
    """Return those files of a digest that have another text now, as messages name them."""
    return [shown(file) for file, text in planned.files.items() if _text(file) != text]


def of_job(script: str, *modules: str) -> Digest:
    """Return a digest of a script, of the files that it and some modules use, directly or not, and of uv.lock.

    It is a parameter of the script's jobs, so an edit reruns only the jobs that use the edited file. Snakemake itself
    compares only dates, and an unpacked file may have an old one. The digest starts with "library", because Snakemake
    shows it as the reason.
    """
    own = (LOCK, SCRIPTS / f"{script}.py")
    files = {file: _digest(file) for file in (*map(str, own), *sources(*modules, script=script))}
    found = Digest(f"library {hashlib.sha256(''.join(files.values()).encode()).hexdigest()[:16]}")
    found.files = files
    return found


@remembered
def _digest(file: str) -> str:
    recorded = os.environ.get(TEXTS_VARIABLE)
    return (recorded and _recorded(recorded).get(shown(file))) or _text(file)


@cache
def _recorded(file: str) -> dict[str, str]:
    """Return the digests that `record` kept; none if a job does not see the run's folder."""
    return json.loads(Path(file).read_text(encoding="utf-8")) if Path(file).exists() else {}


def _text(file: str) -> str:
    """Return a short digest of a file's text; empty without the file."""
    return (imported.digest(file) or "")[:16]
