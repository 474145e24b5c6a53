"""Pack a finished run as one zip file: a Workflow Run RO-Crate, profile version 0.5, written by ro-crate-py.

`results/` contains the files of the run, `project/` the files that made them, `provenance/` the logs, times and memory
of its jobs. The crate contains no rows of replicates and no raw data, because the data have their own licences. A crate
is meant for publication, so only files that the run wrote or that the library reads are packed.
"""

import io
import math
import mimetypes
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from privarms import __version__
from privarms.errors import PrivarmsError
from privarms.files import parquet
from privarms.files.revision import UNKNOWN
from privarms.files.whole import whole
from privarms.ledger import files as ledger
from privarms.ledger import outcomes
from privarms.planning import configuration, paths
from privarms.planning.plan import Plan
from privarms.planning.start import make_plan
from privarms.registry import extensions, imported
from privarms.report import summary

PROFILES = ("ro/wfrun/process/0.5", "ro/wfrun/workflow/0.5", "workflowhub/workflow-ro-crate/1.0")
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
LICENCE = "https://spdx.org/licenses/MIT"
# Only files that match these patterns are packed. Other files in the same folders stay private.
PAPER = ("studies.yaml", "statements.yaml", "*.csv", "grids/*.csv", "published/*.csv", "published/numbers.yaml")
PROJECT = (
    *("Makefile", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "references.bib"),
    *("pyproject.toml", "uv.lock", "environment.yml", "data/README.md", "data/sources.yaml"),
    *("config/README.md", "config/config.yaml", "config/quick.yaml", "config/tiny.yaml"),
    *(f"config/papers/*/{name}" for name in PAPER),
    *(f"profiles/{name}/config.yaml" for name in ("default", "generic", "kubernetes", "slurm")),
    "profiles/generic/status.sh",
    *("docs/*.md", "docs/developer/*.md", "docs/papers/*.md", "docs/hooks.py"),
    *("docs/results/*.csv", "docs/results/*.json", "docs/results/*/*.png"),
    *("workflow/Snakefile", "workflow/rules/*.smk", "workflow/scripts/*.py", "workflow/schemas/*.json"),
    *("workflow/report/caption.rst", "workflow/privarms/**/*.py"),
)
EXTENSION = (
    *(f"{room}/**/*.py" for room in extensions.OWN_ROOMS),
    *(f"papers/*/{name}" for name in PAPER),
    "data/sources.yaml",
)
LOGS = ("**/*.log", "**/*.tsv", "previous_ledger.csv")
# Files next to a module with its name, which the library counts as its sources, are packed if they are of these kinds.
KINDS = (".css", ".csv", ".j2", ".js", ".json", ".md", ".npy", ".npz", ".txt", ".yaml")
README = """# A run of privarms at scale {scale}

{description} privarms {version}, revision {revision}.

- `results/{scale}/report.html`: open this first, a self-contained page with all results
- `results/{scale}/ledger.csv`: every case: a statement in one setting, with published value, measured value and verdict
- `project/docs/output.md`: description of every file, column and unit
- `provenance/logs/{scale}/`: the log, time and memory of every job

To make the results again, run this in the folder `project`:

    {command}

You need Python 3.11 to 3.14 and make. The sources of the raw data are in `project/data/README.md`. If
an extension was outside the folder of the run, correct its path in your configuration file: it is in `project`, too.

License: MIT (`project/LICENSE`). How to cite: `project/CITATION.cff`.
"""


class Packed(NamedTuple):
    """One file of a crate: `source` is packed as `place`; the printed list has a line per `line`."""

    source: Path
    place: str
    line: str


def pack(scale: str, place: Path | str, configfiles: Sequence[Path | str] = ()) -> str:
    """Pack the run of a scale in this folder and return a text about the crate, with the list of what it contains.

    configfiles: the run's own configuration files, in addition to those of its scale; their extensions are packed too.
    Raises PrivarmsError if the run is not finished or the crate cannot be written.
    """
    try:
        from rocrate.rocrate import ROCrate
    except ImportError:
        raise PrivarmsError("privarms crate: the package rocrate is missing; install privarms[crate]") from None

    for needed in (paths.report(scale), paths.ledger(scale), paths.statements(scale)):
        if not Path(needed).is_file():
            raise PrivarmsError(f"{needed}: no such file; finish the run of scale {scale}, then pack it")
    statements = ledger.read(paths.statements(scale), outcomes.COLUMNS)
    counted = "; ".join(summary.in_words(statements, ledger.read(paths.ledger(scale))))
    description = f"Re-run figures and tables of papers on private bandits, with outcomes ({counted})."
    of_scale = [paths.PROJECT / "config" / f"{scale}.yaml"] if scale != "paper" else []
    config = configuration.of_run([paths.PROJECT / "config" / "config.yaml", *of_scale, *configfiles])
    if config["scale"] != scale:
        raise PrivarmsError(f"scale: expected {scale}, as --scale says; found {config['scale']} in the files")
    plan = make_plan(config, main=False)
    results = _results(plan)
    packed = _distinct(
        chain(results, _provenance(plan), _project(config), _extensions(config), _configfiles(configfiles))
    )
    origins = _origins([one.source for one in results])
    about = {"scale": scale, "description": description, "version": __version__, "revision": origins["revision"]}
    readme = README.format(**about, command=_command(scale, configfiles))
    crate = ROCrate(version="1.1")
    crate.add_file(
        io.StringIO(readme), "README.md", properties={"name": "README.md", "encodingFormat": "text/markdown"}
    )
    entities = {one.place: _add(crate, one) for one in packed}
    _describe(crate, scale, description, origins["seed"], [entities[one.place] for one in results])
    with whole(place) as temporary:
        # ro-crate-py would add .zip to a name without it.
        archive = temporary.with_suffix(".zip")
        crate.write_zip(archive)
        archive.replace(temporary)
    size = Path(place).stat().st_size / 1e6
    return "\n".join([f"{place}: {size:.1f} MB; unpack this file and read README.md. It contains", *_listed(packed)])


def _allowed(root: Path, patterns: Iterable[str]) -> list[Path]:
    """Return the files of a folder that match patterns, and files that belong to a module among them, sorted.

    Names that begin with a dot do not count, and neither do links to anything but another of these files.
    """
    found = {file for pattern in patterns for file in root.glob(pattern)}
    modules = [file for file in found if file.suffix == ".py"]
    found |= {file for one in modules for file in imported.beside(one) if file.suffix in KINDS}
    real = root.resolve()
    places = {real / file.relative_to(root) for file in found}
    return sorted(
        file
        for file in found
        if file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(root).parts)
        and file.resolve() in places
    )


def _results(plan: Plan) -> list[Packed]:
    """Return the run's results, without rows of replicates, which would make the crate large."""
    scale = plan.scale
    names = [paths.report(scale), paths.ledger(scale), paths.statements(scale), paths.audit(scale)]
    names += [paths.audit_picture(scale, suffix) for suffix in paths.FIGURE_FORMATS]
    names += [*plan.outputs.files("figure"), *plan.outputs.files("table")]
    for paper in plan.outputs.papers:
        names += [paths.cells(scale, paper, study) for study in plan.simulation.studies(paper)]
        names += [paths.inference(scale, paper, table) for table in plan.outputs.inference(paper)]
        names.append(paths.cases(scale, paper))
    return [Packed(Path(name), name, paths.results(scale)) for name in sorted({*names}) if Path(name).is_file()]


def _provenance(plan: Plan) -> Iterator[Packed]:
    logs = Path(paths.logs(plan.scale))
    for file in _allowed(logs, LOGS):
        yield Packed(file, f"provenance/{file}", f"provenance/{logs}")
    facts = [
        paths.prepared(dataset, "json", stand_in, plan.scale)
        for dataset in plan.datasets.statuses
        for stand_in in (False, True)
    ]
    for name in filter(os.path.isfile, facts):
        yield Packed(Path(name), f"provenance/{name}", f"provenance/{name}")


def _project(config: Mapping) -> Iterator[Packed]:
    """Yield the project's files, and the papers and the sources that the configuration names."""
    for file in _allowed(paths.PROJECT, PROJECT):
        place = f"project/{file.relative_to(paths.PROJECT)}"
        yield Packed(file, place, "/".join(place.split("/")[:2]))
    folder, sources = Path(config["papers"]), Path(config["sources"])
    for file in _allowed(folder, [f"*/{name}" for name in PAPER]):
        yield Packed(file, f"{_place(folder)}/{file.relative_to(folder)}", _place(folder))
    if sources.is_file():
        yield Packed(sources, _place(sources), _place(sources))


def _extensions(config: Mapping) -> Iterator[Packed]:
    for folder in map(Path, config.get("extensions", ())):
        for file in _allowed(folder, EXTENSION):
            place = f"{_place(folder)}/{file.relative_to(folder)}"
            yield Packed(file, place, place)


def _configfiles(files: Iterable[Path | str]) -> Iterator[Packed]:
    for file in map(Path, files):
        yield Packed(file, _place(file), _place(file))


def _place(path: Path) -> str:
    """Return the place in the crate of a path that the configuration or the user names.

    Below the working directory it stays the same, so the packed configuration finds it.
    """
    path, here = Path(os.path.abspath(path)), Path.cwd()
    return str(Path("project", path.relative_to(here) if path.is_relative_to(here) else path.name))


def _distinct(files: Iterable[Packed]) -> list[Packed]:
    """Return each file once. Raises PrivarmsError for two files with one place, of which a reader would see one."""
    of_places: dict[str, Packed] = {}
    for one in files:
        other = of_places.setdefault(one.place, one)
        if not other.source.samefile(one.source):
            raise PrivarmsError(
                f"{one.source}: {other.source} has the same place in the crate, {one.place}; rename one of them"
            )
    return list(of_places.values())


def _listed(files: Iterable[Packed]) -> Iterator[str]:
    """Yield one line per file of the user's own, and one per group of other files."""
    sizes: dict[str, list[int]] = {}
    for one in files:
        sizes.setdefault(one.line, []).append(one.source.stat().st_size)
    for line, of_files in sizes.items():
        number = f"{len(of_files):,} files, " if len(of_files) > 1 else ""
        yield f"  {line}: {number}{math.ceil(sum(of_files) / 1e3):,} kB"


def _origins(files: Iterable[Path]) -> dict[str, str]:
    """Return the revision and the seed that results name; several, if they were made with several."""
    found = [parquet.metadata(file) for file in files if file.suffix == ".parquet"]
    return {
        key: ", ".join(sorted({str(one[key]) for one in found if key in one})) or UNKNOWN
        for key in ("revision", "seed")
    }


def _command(scale: str, configfiles: Sequence[Path | str]) -> str:
    """Return the command that makes the results again in the crate's project."""
    if not configfiles:
        return f"make {scale}"
    files = [
        *([f"config/{scale}.yaml"] if scale != "paper" else []),
        *(_place(Path(file)).removeprefix("project/") for file in configfiles),
    ]
    return f"make environment && .venv/bin/snakemake --cores 2 --configfile {shlex.join(files)}"


def _add(crate, one: Packed):
    kind = "application/vnd.apache.parquet" if one.source.suffix == ".parquet" else mimetypes.guess_type(one.source)[0]
    about = {"name": one.source.name, "encodingFormat": kind or "text/plain"}
    if one.source.suffix != ".log":
        return crate.add_file(
            one.source, one.place, properties={**about, "contentSize": str(one.source.stat().st_size)}
        )
    # Warnings and tracebacks name folders, and so the user.
    text = one.source.read_text(encoding="utf-8", errors="replace")
    for folder, name in ((os.getcwd(), "."), (str(paths.PROJECT), "privarms"), (os.path.expanduser("~"), "~")):
        text = text.replace(folder, name) if folder != os.sep else text
    return crate.add_file(
        io.StringIO(text), one.place, properties={**about, "contentSize": str(len(text.encode("utf-8")))}
    )


def _describe(crate, scale: str, description: str, seed: str, results: list) -> None:
    """Add the metadata of the workflow and of the run: configuration, parameters, results and end time."""

    def add(entity: str, kind: str, name: str, **properties):
        return crate.add_jsonld({"@id": entity, "@type": kind, "name": name, **properties})

    end = datetime.fromtimestamp(Path(paths.report(scale)).stat().st_mtime, UTC).isoformat(timespec="seconds")
    authors = add("#authors", "Organization", "The privarms authors")
    workflow = crate.add_workflow(
        paths.PROJECT / "workflow" / "Snakefile",
        "project/workflow/Snakefile",
        main=True,
        lang="snakemake",
        lang_version=version("snakemake"),
    )
    root = crate.root_dataset
    root["conformsTo"] = [add(f"https://w3id.org/{p}", "CreativeWork", p, version=Path(p).name) for p in PROFILES]
    root["name"], root["description"], root["datePublished"] = f"privarms: a run at scale {scale}", description, end
    root["license"] = add(LICENCE, "CreativeWork", "MIT License", identifier="MIT")
    root["author"] = root["publisher"] = workflow["creator"] = authors
    workflow["name"], workflow["version"], workflow["license"] = "privarms", __version__, {"@id": LICENCE}
    workflow["encodingFormat"], workflow["conformsTo"] = "text/plain", {"@id": BIOSCHEMAS}
    workflow["softwareRequirements"] = crate.get("project/uv.lock")
    crate.get("README.md")["about"] = root
    values = [add(f"#{n}", "PropertyValue", n, value=v) for n, v in (("scale", scale), ("seed", seed))]
    configured = ["project/config/config.yaml", *([f"project/config/{scale}.yaml"] if scale != "paper" else [])]
    about = {"name": "The run", "endTime": end, "actionStatus": "http://schema.org/CompletedActionStatus"}
    root["mentions"] = crate.add_action(
        workflow,
        "#run",
        object=[*values, *map(crate.get, configured)],
        result=results,
        properties={**about, "description": root["description"], "agent": {"@id": "#authors"}},
    )
