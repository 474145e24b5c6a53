"""Fixtures: a tiny copy of the project with every stage and paper, in plain Python, in under a minute."""

import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import yaml

from privarms.planning import grids
from privarms.planning.configuration import resolve
from privarms.planning.studies import listed
from privarms.registry import artifacts as of_artifacts
from privarms.registry import library
from tests import PAPERS, ROOT

PARTS = (
    "Snakefile",
    "environment.yml",
    "pyproject.toml",
    "uv.lock",
    "config",
    "docs/glossary.md",
    "profiles",
    "workflow",
)
REPLICATES, BLOCK, HORIZON, USERS = 4, 2, 2_000, 200
# The stand-ins of these datasets are too long for plain Python.
LARGE = ("taxi", "taxicard", "taxisample", "taxisamplecard")
SMALL = Path(__file__).with_name("small.yaml")
quick = partial(resolve, scale="quick")


def unlike(artifacts: dict) -> dict:
    """Return all tables, and one figure per number, function or set of inputs.

    Drawing takes most of the time, so similar figures (fig8a, fig8b_variant) are omitted.
    """
    seen: set = set()
    kept = {}
    for name, artifact in artifacts.items():
        number = re.match(r"fig\d+(?=[a-z_]|$)", name)
        alike = {number[0]} if number else set()
        if artifact.kind == "figure":
            alike |= {json.dumps([artifact.studies, artifact.inference])}
        if not alike & seen:
            kept[name] = artifact
        seen |= alike
    return kept


def short(grid):
    """Return a grid without long horizons."""
    if isinstance(grid, list):
        return [short(one) for one in grid]
    if "horizon" not in grid:
        return grid
    return grid | {"horizon": sorted({min(horizon, HORIZON) for horizon in listed(quick(grid["horizon"]))})}


def stepwise(policies: list[dict]) -> bool:
    """Return whether some policies play round by round, which is slow without compilation."""
    return any(library.attributes("policies", p["policy"]).get("SECONDS_PER_STEP", 0) > 0 for p in policies)


def ends(axis):
    """Return the first two values and the last value of a long axis."""
    return [*axis[:2], axis[-1]] if isinstance(axis, list) and len(axis) > 3 else axis


def few_users(grid):
    """Return a small grid of bandits with batches and auxiliary users: two sizes each, ends of long axes."""
    if isinstance(grid, list):
        return [few_users(one) for one in grid]

    def sizes(name: str, bound: int, small: int, large: int):
        return sorted({0 if size == 0 else small if size <= bound else large for size in listed(grid[name])})

    # The grid of scale quick is used at every scale.
    grid = quick(grid)
    changed = {name: ends(axis) for name, axis in grid.items() if name not in ("epsilon_aux", "grid")}
    if "horizon" in grid and "dataset" not in grid:
        changed["horizon"] = sizes("horizon", 2000, 100, 120)
    if "n_aux" in grid:
        changed["n_aux"] = sizes("n_aux", 1000, 25, 30)
    if "batch" in grid:
        changed["batch"] = [max(batch // 20, 1) for batch in listed(grid["batch"])]
    return grid | changed


def small_data(grid):
    """Return a grid without large datasets, and with few users of the others."""
    if isinstance(grid, list):
        return [small_data(one) for one in grid if one.get("dataset") not in LARGE]
    return grid | {"horizon": USERS} if "dataset" in grid else grid


def shrink(study: dict) -> dict:
    """Return a study with a few short runs; only horizons of policies that play round by round change in its grid."""
    policies = [p | {"grid": small_data(p["grid"])} if "grid" in p else p for p in study["policies"]]
    study = study | {"policies": policies}
    if "grid" in study:
        study = study | {"grid": small_data(study["grid"])}
    if study.get("protocol") == "locally_private":
        own = ("replicates", "block", "seconds_per_step")
        policies = [few_users({k: v for k, v in p.items() if k not in own}) for p in study["policies"]]
        policies = [p | {"grid": few_users(p["grid"])} if "grid" in p else p for p in policies]
        grid = {"grid": few_users(study["grid"])} if "grid" in study else {}
        runs = {"replicates": 1 if study["replicates"] == 1 else 2, "block": 1}
        return study | grid | runs | {"policies": policies}
    users = "dataset" in study.get("environment", {})
    small = {k: v for k, v in study.items() if k != "policies"} | {"replicates": REPLICATES, "block": BLOCK}
    if "horizon" in study:
        small["horizon"] = USERS if users else min(quick(study["horizon"]), HORIZON)
    own = ("replicates", "block", "horizon")
    policies = [{k: v for k, v in p.items() if k not in own} for p in study["policies"]]
    if "grid" in study and stepwise([p for p in policies if "grid" not in p]):
        small["grid"] = short(study["grid"])
    policies = [p | {"grid": short(p["grid"])} if "grid" in p and stepwise([p]) else p for p in policies]
    return small | {"policies": policies}


def statements_about(folder: Path, paper: dict, artifacts: dict) -> dict:
    """Return a paper's statements about some artifacts, as far as the tables and tags that they use are left."""
    file = folder / "statements.yaml"
    whole = yaml.safe_load(file.read_text(encoding="utf-8"))["statements"] if file.exists() else []
    registered = of_artifacts.inference_of_paper(folder.name)
    tables = {name for name, table in registered.items() if {*table.studies} <= {*paper["studies"]}}
    grids = [entry for study in paper["studies"].values() for entry in (study, *study["policies"])]
    grids = [grid for entry in grids for grid in listed(quick(entry.get("grid", [])))]
    tags = {grid["tag"] for grid in grids if "tag" in grid}

    def fits(entry: dict) -> bool:
        measure = entry.get("measure", {})
        used = set(listed(measure.get("where", {}).get("tag", [])))
        known = measure.get("table", "") in ("", *tables)
        return entry["artifact"] in artifacts and known and used <= tags

    # JSON removes YAML anchors, so the written files are easier to read.
    return json.loads(json.dumps({"statements": [entry for entry in whole if fits(entry)]}))


def about(paper: dict, artifacts: dict, statements: dict) -> dict:
    """Return a paper's readings without names of other artifacts and statements."""
    names = {"affects": set(artifacts), "tried": {one["statement"] for one in statements["statements"]}}
    readings = [
        r | {key: [n for n in r.get(key, []) if n in known] for key, known in names.items()} for r in paper["readings"]
    ]
    return paper | {"readings": readings}


class Project:
    """A folder with a copy of the project, in which Snakemake runs."""

    def __init__(self, folder: Path):
        self.folder = folder

    def command(self, *arguments: str, cores: int = 2, scale: str = "quick") -> list[str]:
        """Return the command line of a run on the tiny studies."""
        scaled = ["--configfile", "config/quick.yaml"] if scale == "quick" else []
        tiny = [] if any(a.startswith("papers=") for a in arguments) else ["papers=tiny/papers"]
        return [
            *(sys.executable, "-m", "snakemake", "--cores", str(cores), *scaled),
            *("--config", "sources=tiny/sources.yaml", *tiny),
            *(a for a in arguments if "=" in a and not a.startswith("-")),
            *("--", *(a for a in arguments if "=" not in a and not a.startswith("-"))),
        ]

    def environment(self, **changes: str) -> dict[str, str]:
        """Return the environment variables of a run; plain Python gives the same numbers without compilation."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PRIVARMS_")}
        return kept | {"NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"} | changes

    def run(self, *arguments: str, cores: int = 2, scale: str = "quick", before=None, **environment: str):
        """Run Snakemake to its end; flags (-n, --summary) and targets and key=value settings in any order.

        before: called in the new process before it starts
        """
        command = self.command(*arguments, cores=cores, scale=scale)
        flags = [a for a in arguments if a.startswith("-")]
        command[3:3] = flags
        own = {"cwd": self.folder, "env": self.environment(**environment), "preexec_fn": before}
        return subprocess.run(command, capture_output=True, text=True, timeout=1800, **own)

    def complete(self, *arguments: str, **options) -> None:
        """Call `run`, which must succeed."""
        done = self.run(*arguments, **options)
        assert done.returncode == 0, done.stdout + done.stderr

    def digests(self) -> dict[str, str]:
        """Return a checksum of every result that must be reproducible."""
        digests = {}
        for path in sorted((self.folder / "results").rglob("*")):
            if path.is_file() and "shards" not in path.parts:
                digests[str(path.relative_to(self.folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
        return digests

    def rows(self, path: str) -> list[dict[str, str]]:
        """Return the rows of a CSV file in results/quick."""
        with (self.folder / "results/quick" / path).open(encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    def write(self, path: str, text: str) -> None:
        """Write a file of the project, in a new folder if necessary."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def pending(self) -> set[str]:
        """Return the outputs that a run would make."""
        listed = self.run("--summary")
        assert listed.returncode == 0, listed.stderr
        rows = [line.split("\t") for line in listed.stdout.splitlines()]
        head = next(i for i, row in enumerate(rows) if row[0] == "output_file")
        return {row[0] for row in rows[head + 1 :] if len(row) > 1 and row[-1] != "no update"}


def copied(source: Path, folder: Path) -> Project:
    """Return a copy of a project, with the times of its files."""
    return Project(Path(shutil.copytree(source, folder)))


def load_paper(place: Path) -> dict:
    """Load a paper's studies.yaml, with the rows of its tables of grids inserted."""
    content = yaml.safe_load((place / "studies.yaml").read_text(encoding="utf-8"))
    studies = grids.filled(content["studies"], place / "studies.yaml", "quick")
    return content | {"studies": json.loads(json.dumps(studies, default=lambda axes: axes.parameters))}


def write_paper(project: Path, paper: str, studies: dict, statements: dict) -> None:
    """Write a paper's folder in the tiny project, with its published files unchanged."""
    folder = project / "tiny/papers" / paper
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "studies.yaml").write_text(yaml.safe_dump(studies, sort_keys=False), encoding="utf-8")
    if statements["statements"]:
        (folder / "statements.yaml").write_text(yaml.safe_dump(statements, sort_keys=False), encoding="utf-8")
    if (PAPERS / paper / "published").is_dir():
        shutil.copytree(PAPERS / paper / "published", folder / "published")


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """Return the tiny project before any run."""
    folder = tmp_path_factory.mktemp("template")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            (folder / part).parent.mkdir(exist_ok=True)
            shutil.copy2(source, folder / part)
    # In plain Python, drawing a tree of the printed depth takes most of a run's time.
    deep = folder / "workflow/privarms/policies/locally_private/_ldp_mab_parameters.py"
    text = deep.read_text(encoding="utf-8")
    assert "PRINTED_DEPTH = 12\n" in text
    deep.write_text(text.replace("PRINTED_DEPTH = 12\n", "PRINTED_DEPTH = 5\n"), encoding="utf-8")
    for place in PAPERS.iterdir():
        paper = load_paper(place)
        paper["studies"] = {name: shrink(study) for name, study in paper["studies"].items()}
        artifacts = unlike(of_artifacts.of_paper(place.name))
        statements = statements_about(place, paper, artifacts)
        write_paper(
            folder, place.name, about(paper, artifacts, statements) | {"artifacts": list(artifacts)}, statements
        )
    sources = yaml.safe_load((ROOT / "data" / "sources.yaml").read_text(encoding="utf-8"))
    for dataset in sources.values():
        dataset["at_most"] = {"target": 500, "auxiliary": 100}
        if dataset.get("module") == "adult":
            # These few rows do not have all levels of a column.
            dataset["options"] = {**dataset.get("options", {}), "sources": "one"}
        for entry in dataset["files"]:
            # This port is closed, so every download fails at once.
            for key in {"url", "probe"} & set(entry):
                entry[key] = f"http://127.0.0.1:9/{entry['name']}"
    (folder / "tiny" / "sources.yaml").write_text(yaml.safe_dump(sources), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def small_template(template, tmp_path_factory) -> Path:
    """Return one paper with two studies and one artifact per kind: every stage except data, in a dozen jobs."""
    folder = copied(template, tmp_path_factory.mktemp("small") / "project").folder
    chosen = yaml.safe_load(SMALL.read_text(encoding="utf-8"))
    place = PAPERS / chosen["paper"]
    paper = load_paper(place)
    artifacts = {name: of_artifacts.of_paper(place.name)[name] for name in chosen["artifacts"]}
    studies = {name: shrink(paper["studies"][name]) | changed for name, changed in chosen["studies"].items()}
    paper |= {"studies": studies, "artifacts": list(artifacts)}
    statements = statements_about(place, paper, artifacts)
    statements["statements"] = [s for s in statements["statements"] if s["statement"] in chosen["statements"]]
    paper = about(paper, artifacts, statements)
    shutil.rmtree(folder / "tiny" / "papers")
    write_paper(folder, place.name, paper, statements)
    return folder


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


@pytest.fixture
def fresh(template, tmp_path) -> Project:
    """Return a tiny project before any run."""
    return copied(template, tmp_path / "project")


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
    for folder in (project.folder / "tiny/papers").iterdir():
        if folder.name != paper:
            shutil.rmtree(folder)
    return project


@pytest.fixture(scope="session")
def made(template, tmp_path_factory) -> Project:
    """Return a tiny project after a complete run on two cores. Tests must not change it."""
    project = copied(template, tmp_path_factory.mktemp("made") / "project")
    project.complete(cores=2)
    return project
