"""Fixtures: copies of the project in which Snakemake runs at scale tiny."""

import csv
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from tests import ROOT

PARTS = (
    *("Snakefile", "environment.yml", "pyproject.toml", "uv.lock"),
    *("config", "data", "docs/glossary.md", "profiles", "workflow"),
)
OMITTED = shutil.ignore_patterns("__pycache__", "*.egg-info", "raw", "prepared")
# This port is closed, so every download fails at once.
NOWHERE = "http://127.0.0.1:9"


class Project:
    """A folder with a copy of the project, in which Snakemake runs."""

    def __init__(self, folder: Path):
        self.folder = folder

    def command(
        self, *arguments: str, cores: int = 2, scale: str = "tiny", configfiles: Sequence[str] = ()
    ) -> list[str]:
        """Return the command line of a run: flags (-n, --summary), targets and key=value settings in any order."""
        flags = [a for a in arguments if a.startswith("-")]
        settings = [a for a in arguments if "=" in a and a not in flags]
        files = [*([f"config/{scale}.yaml"] if scale != "paper" else []), *configfiles]
        return [
            *(sys.executable, "-m", "snakemake", "--cores", str(cores), *flags),
            *(("--configfile", *files) if files else ()),
            *(("--config", *settings) if settings else ()),
            *("--", *(a for a in arguments if a not in flags + settings)),
        ]

    def environment(self, **changes: str) -> dict[str, str]:
        """Return the environment variables of a run: without network, in plain Python, which gives the same numbers."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PRIVARMS_")}
        offline = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), NOWHERE)
        return kept | offline | {"NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"} | changes

    def run(self, *arguments: str, cores=2, scale="tiny", configfiles=(), before=None, **environment: str):
        """Run the `command` to its end; before: called in the new process before it starts."""
        command = self.command(*arguments, cores=cores, scale=scale, configfiles=configfiles)
        own = {"cwd": self.folder, "env": self.environment(**environment), "preexec_fn": before}
        return subprocess.run(command, capture_output=True, text=True, timeout=1800, **own)

    def complete(self, *arguments: str, **options) -> None:
        """Call `run`, which must succeed."""
        done = self.run(*arguments, **options)
        assert done.returncode == 0, done.stdout + done.stderr

    def digests(self) -> dict[str, str]:
        """Return a checksum of every result that must be reproducible: of no shard, and no temporary file."""
        digests = {}
        for path in sorted((self.folder / "results").rglob("*")):
            if path.is_file() and path.suffix != ".part" and "shards" not in path.parts:
                digests[str(path.relative_to(self.folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
        return digests

    def rows(self, path: str, scale: str = "tiny") -> list[dict[str, str]]:
        """Return the rows of a CSV file in the results."""
        with (self.folder / "results" / scale / path).open(encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    def write(self, path: str, text: str) -> None:
        """Write a file of the project, in a new folder if necessary."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def pending(self, **options) -> set[str]:
        """Return the outputs that a run would make."""
        listed = self.run("--summary", **options)
        assert listed.returncode == 0, listed.stderr
        rows = [line.split("\t") for line in listed.stdout.splitlines()]
        head = next(i for i, row in enumerate(rows) if row[0] == "output_file")
        return {row[0] for row in rows[head + 1 :] if len(row) > 1 and row[-1] != "no update"}


def copied(source: Path, folder: Path) -> Project:
    """Return a copy of a project, with the times of its files."""
    return Project(Path(shutil.copytree(source, folder)))


def change(project: Project, file: str, path: tuple, value) -> None:
    """Set a value in a YAML file of a project; path: the keys that lead to it."""
    place = project.folder / file
    content = yaml.safe_load(place.read_text(encoding="utf-8"))
    spot = content
    for step in path[:-1]:
        spot = spot[step]
    spot[path[-1]] = value
    place.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def only(project: Project, paper: str) -> Project:
    """Return a project with only one paper, because planning all papers takes longer than most tests."""
    for folder in (project.folder / "config/papers").iterdir():
        if folder.name != paper:
            shutil.rmtree(folder)
    return project


def printed_files() -> dict[str, str]:
    """Return the files that the pages about extensions print, by path."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("extend*.md")))
    return dict(re.findall(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)```$", text, flags=re.DOTALL | re.MULTILINE))


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """Return the project before any run."""
    folder = tmp_path_factory.mktemp("template")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=OMITTED)
        else:
            (folder / part).parent.mkdir(exist_ok=True)
            shutil.copy2(source, folder / part)
    return folder


@pytest.fixture
def fresh(template, tmp_path) -> Project:
    """Return the project before any run."""
    return copied(template, tmp_path / "project")


@pytest.fixture(scope="session")
def made(template, tmp_path_factory, worker_id) -> Project:
    """Return the project after a complete run on two cores, once for all workers. Tests must not change it."""
    # The parent of a worker's folder is the one of all workers.
    own = tmp_path_factory.getbasetemp()
    folder = own if worker_id == "master" else own.parent
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            copied(template, folder / "begun").complete(cores=2)
            (folder / "begun").rename(folder / "made")
    return Project(folder / "made")


@pytest.fixture(scope="session")
def small_template(template, tmp_path_factory) -> Path:
    """Return the project with only the paper that the manual prints: every stage except data, in a dozen jobs."""
    project = only(copied(template, tmp_path_factory.mktemp("small") / "project"), "us2026")
    for path, text in printed_files().items():
        if path.startswith(("config/", "workflow/")):
            assert not (project.folder / path).exists(), path
            project.write(path, text)
    return project.folder


@pytest.fixture
def small(small_template, tmp_path) -> Project:
    """Return a small project before any run."""
    return copied(small_template, tmp_path / "project")


@pytest.fixture(scope="session")
def small_made(small_template, tmp_path_factory) -> Project:
    """Return a small project after an undisturbed complete run. Tests must not change it."""
    project = copied(small_template, tmp_path_factory.mktemp("small_made") / "project")
    project.complete()
    return project
