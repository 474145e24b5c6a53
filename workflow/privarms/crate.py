"""Pack a finished run as one zip file: a Workflow Run RO-Crate, profile version 0.5, written by ro-crate-py.

`results/` contains the files of the run, `project/` the files that made them, `provenance/` the logs, times and memory
of its jobs. The crate contains no rows of replicates and no raw data, because the data have their own licences.
"""

import io
import mimetypes
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from snakemake.utils import update_config

from privarms import __version__
from privarms.claims import ledger, summary
from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.files.revision import revision
from privarms.files.whole import whole
from privarms.studies import paths
from privarms.studies.start import make_plan

PROFILES = ("ro/wfrun/process/0.5", "ro/wfrun/workflow/0.5", "workflowhub/workflow-ro-crate/1.0")
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
LICENCE = "https://spdx.org/licenses/MIT"
PROJECT = (
    *("Makefile", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "references.bib"),
    *("pyproject.toml", "uv.lock", "environment.yml", "config", "workflow", "profiles", "docs"),
    *("data/README.md", "data/sources.yaml"),
)
# In these result folders only files of the run's plan are packed.
PLANNED = ("figures", "tables", "studies", "inference", "claims")
LEFT_OUT = ("shards", "__pycache__", "privarms.egg-info", "api")
README = """# A run of privarms at scale {scale}

{description} privarms {version}, revision {revision}.

- `results/{scale}/report.html`: open this first, a self-contained page with all results
- `results/{scale}/ledger.csv`: every claim with published and reproduced value, tolerance, verdict and note
- `project/docs/output.md`: description of every file, column and unit
- `provenance/logs/{scale}/`: the log, time and memory of every job

To make the results again, run `cd project && make {scale}`. You need Python 3.11 to 3.14, git and make. The sources of
the raw data are in `project/data/README.md`. License: MIT (`project/LICENSE`). How to cite: `project/CITATION.cff`.
"""


def pack(scale: str, place: Path | str, configfiles: Sequence[Path | str] = ()) -> str:
    """Pack the run of a scale in this folder and return a sentence about the crate.

    configfiles: the run's own configuration files, in addition to those of its scale; their extensions are packed too.
    Raises PrivarmsError if the run is not finished or the crate cannot be written.
    """
    from rocrate.rocrate import ROCrate

    for needed in (paths.report(scale), paths.ledger(scale), paths.statements(scale)):
        if not Path(needed).is_file():
            raise PrivarmsError(f"{needed}: no such file; finish the run of scale {scale}, then pack it")
    statements = ledger.read(paths.statements(scale), ledger.STATEMENTS)
    outcomes = summary.counted(statements, "outcome", ledger.OUTCOMES)
    description = f"Re-run figures and tables of papers on private bandits, and their statements: {outcomes}."
    plan, extensions = _planned(scale, configfiles)
    readme = README.format(scale=scale, description=description, version=__version__, revision=revision())
    crate = ROCrate(version="1.1")
    crate.add_file(
        io.StringIO(readme), "README.md", properties={"name": "README.md", "encodingFormat": "text/markdown"}
    )
    files = [f for f in _files(Path(paths.results(scale))) if f.parts[2] not in PLANNED or str(f) in plan]
    results = [_add(crate, file, str(file)) for file in files]
    for file in [*_files(Path("logs", scale)), *sorted(Path("data/prepared").glob("*.json"))]:
        _add(crate, file, f"provenance/{file}")
    for file in (file for name in PROJECT for file in _files(paths.PROJECT / name)):
        _add(crate, file, f"project/{file.relative_to(paths.PROJECT)}")
    for folder in extensions:
        for file in _files(Path(folder).resolve()):
            _add(crate, file, f"project/{Path(folder).name}/{file.relative_to(Path(folder).resolve())}")
    for file in map(Path, configfiles):
        _add(crate, file, f"project/{file.name}")
    _describe(crate, scale, description, results)
    with whole(place) as temporary:
        # ro-crate-py would add .zip to a name without it.
        archive = temporary.with_suffix(".zip")
        crate.write_zip(archive)
        archive.replace(temporary)
    return f"{place}: {Path(place).stat().st_size / 1e6:.1f} MB; unpack this file and read README.md"


def _planned(scale: str, configfiles: Sequence[Path | str]) -> tuple[set[str], list[str]]:
    """Return the paths of a run's figures, tables, studies, inference tables and claims, and its extensions."""
    of_scale = [paths.PROJECT / "config" / "quick.yaml"] if scale == "quick" else []
    config = settings.read(paths.PROJECT / "config" / "config.yaml") | {"scale": scale}
    for file in (*of_scale, *configfiles):
        update_config(config, settings.read(file))
    plan = make_plan(config, main=False)
    files = {*plan.outputs.files("figure"), *plan.outputs.files("table")}
    for paper in plan.outputs.papers:
        files |= {paths.cells(scale, paper, study) for study in plan.simulation.studies(paper)}
        files |= {paths.inference(scale, paper, table) for table in plan.outputs.inference(paper)}
        files.add(paths.claims(scale, paper))
    return files, config.get("extensions", [])


def _files(place: Path) -> list[Path]:
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())
    files = [file for file in files if not set(file.relative_to(place.parent).parts) & set(LEFT_OUT)]
    # The rows of replicates would make the crate large.
    return [file for file in files if file.parent.parent.name != "studies" or file.stem.endswith("_cells")]


def _add(crate, file: Path, place: str):
    kind = "application/vnd.apache.parquet" if file.suffix == ".parquet" else mimetypes.guess_type(file)[0]
    about = {"contentSize": str(file.stat().st_size), "encodingFormat": kind or "text/plain"}
    return crate.add_file(file, place, properties={"name": file.name, **about})


def _describe(crate, scale: str, description: str, results: list) -> None:
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
    seed = settings.read(paths.PROJECT / "config" / "config.yaml")["seed"]
    values = [add(f"#{n}", "PropertyValue", n, value=str(v)) for n, v in (("scale", scale), ("seed", seed))]
    configured = ["project/config/config.yaml", "project/config/quick.yaml"][: 1 + (scale == "quick")]
    about = {"name": "The run", "endTime": end, "actionStatus": "http://schema.org/CompletedActionStatus"}
    root["mentions"] = crate.add_action(
        workflow,
        "#run",
        object=[*values, *map(crate.get, configured)],
        result=results,
        properties={**about, "description": root["description"], "agent": {"@id": "#authors"}},
    )
