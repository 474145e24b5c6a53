"""A finished run as one zip file that says by itself what it is: a Workflow Run RO-Crate, profile version 0.5.

Results lie at the crate's root as the run wrote them, the project that made them in `project/`, what is known of the
run in `provenance/`. Raw data and replicate rows stay out: the former have licences of their own.
"""

import base64
import csv
import io
import json
import platform
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import yaml

from privarms import __version__
from privarms.claims import changes, ledger
from privarms.claims.verdict import VERDICTS
from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.files.parquet import revision
from privarms.files.whole import whole
from privarms.studies import paths

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
LICENCE = "https://spdx.org/licenses/MIT"
AUTHORS = "The privarms authors"
# Of the project, what made the results and what is needed to make them again.
PROJECT = (
    *("Snakefile", "Makefile", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md"),
    *("references.bib", "pyproject.toml", "uv.lock", "environment.yml", "config", "workflow", "profiles", "docs"),
    *("data/README.md", "data/sources.yaml"),
)
LEFT_OUT = ("__pycache__", ".egg-info", "docs/api")
# Of results/{scale}: all but these, which serve the run itself or are large.
NOT_PACKED = ("shards", ".digests")
KINDS = {
    **{"csv": "text/csv", "html": "text/html", "json": "application/json", "log": "text/plain", "md": "text/markdown"},
    **{
        "py": "text/x-python",
        "parquet": "application/vnd.apache.parquet",
        "pdf": "application/pdf",
        "png": "image/png",
    },
    **{"svg": "image/svg+xml", "tex": "application/x-tex", "tsv": "text/tab-separated-values", "yaml": "text/yaml"},
}


class Made(NamedTuple):
    """What Snakemake keeps of a job: its rule, files, and when it began and ended, in seconds since the epoch."""

    rule: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    log: str
    began: float
    ended: float


def default_place(scale: str) -> str:
    """Where a crate is put if nobody says where."""
    return f"results/{scale}_crate.zip"


def pack(scale: str, place: Path | str) -> str:
    """Pack the run of a scale in this folder; a sentence about what was packed.

    Raises PrivarmsError where the run is not finished, or the crate cannot be written.
    """
    from rocrate.rocrate import ROCrate

    for needed in (paths.report(scale), paths.ledger(scale), paths.statements(scale)):
        if not Path(needed).is_file():
            raise PrivarmsError(f"{needed}: not there; expected a finished run at scale {scale}: make it, then pack it")
    jobs = made(scale)
    crate = ROCrate(version="1.1")
    with tempfile.TemporaryDirectory() as folder:
        written = _written(Path(folder), scale, jobs)
        _add_files(crate, scale, written)
        _describe(crate, scale, jobs)
        with whole(place) as temporary:
            # What is written is called .zip whatever its name.
            archive = Path(folder) / "crate.zip"
            crate.write_zip(archive)
            shutil.copyfile(archive, temporary)
    size = Path(place).stat().st_size / 1e6
    return f"{place}: {size:.1f} MB, {len(jobs):,} jobs; unpack it anywhere and read README.md"


def made(scale: str) -> list[Made]:
    """The jobs of a scale's results, and of the data that were prepared for them, in the order in which they began."""
    found: dict[tuple[str, str], list[dict]] = {}
    for file in Path(".snakemake/metadata").glob("**/*"):
        try:
            entry = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
            output = base64.b64decode(str(file.relative_to(".snakemake/metadata")).replace("/@", ""), b"-_").decode()
        except (ValueError, OSError):
            continue
        ours = output.startswith((f"{paths.results(scale)}/", "data/prepared/"))
        if entry and ours and entry.get("rule") and entry.get("endtime") and Path(output).exists():
            key = (entry["rule"], " ".join(entry.get("log") or ()))
            found.setdefault(key, []).append(entry | {"output": output})
    jobs = [
        Made(
            rule,
            tuple(sorted(one["output"] for one in entries)),
            tuple(entries[0].get("input") or ()),
            log,
            min(float(one.get("starttime") or one["endtime"]) for one in entries),
            max(float(one["endtime"]) for one in entries),
        )
        for (rule, log), entries in found.items()
    ]
    return sorted(jobs, key=lambda job: (job.began, job.outputs))


def _files(folder: Path, left_out: Iterable[str] = ()) -> list[Path]:
    files = [folder] if folder.is_file() else sorted(p for p in folder.rglob("*") if p.is_file())
    return [f for f in files if not any(part in str(f) for part in left_out)]


def _written(folder: Path, scale: str, jobs: list[Made]) -> dict[str, Path]:
    """Place in the crate -> a file that is written for it."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("rule", "began", "ended", "seconds", "log", "outputs", "inputs"))
    for job in jobs:
        seconds = f"{job.ended - job.began:.1f}"
        files = (" ".join(job.outputs), " ".join(job.inputs))
        writer.writerow((job.rule, _time(job.began), _time(job.ended), seconds, job.log, *files))
    texts = {
        "provenance/jobs.csv": table.getvalue(),
        "provenance/software.json": json.dumps(_software(), indent=2) + "\n",
        "README.md": readme(scale, jobs),
    }
    found = {}
    for place, text in texts.items():
        found[place] = folder / place.replace("/", "_")
        found[place].write_text(text, encoding="utf-8")
    return found


def _software() -> dict:
    packages = ("numpy", "scipy", "numba", "pandas", "pyarrow", "matplotlib", "statsmodels", "snakemake")
    return {
        "privarms": __version__,
        "revision": revision(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {package: version(package) for package in packages},
    }


def _add_files(crate, scale: str, written: Mapping[str, Path]) -> None:
    results = Path(paths.results(scale))
    packed = [f for f in _files(results) if not set(f.relative_to(results).parts) & set(NOT_PACKED)]
    packed = [f for f in packed if f.parent.parent.name != "studies" or f.stem.endswith("_cells")]
    for file in [*packed, *map(Path, paths.there(paths.bench()))]:
        _add(crate, file, str(file))
    for room in ("logs", "benchmarks"):
        for file in _files(Path(room) / scale):
            _add(crate, file, f"provenance/{file}")
    for file in sorted(Path("data/prepared").glob("*.json")):
        _add(crate, file, f"provenance/{file}")
    for place in PROJECT:
        for file in _files(paths.PROJECT / place, LEFT_OUT):
            target = f"project/{file.relative_to(paths.PROJECT)}"
            if place == "Snakefile":
                workflow = crate.add_workflow(
                    file, target, main=True, lang="snakemake", lang_version=version("snakemake")
                )
                workflow["name"] = "privarms"
                workflow["license"] = {"@id": LICENCE}
                workflow["encodingFormat"] = "text/plain"
            else:
                _add(crate, file, target)
    for place, file in written.items():
        _add(crate, file, place)


def _add(crate, file: Path, place: str):
    kind = KINDS.get(file.suffix.removeprefix("."), "text/plain")
    about = {"name": place.rpartition("/")[2], "contentSize": str(file.stat().st_size), "encodingFormat": kind}
    return crate.add_file(file, place, properties=about)


def _describe(crate, scale: str, jobs: list[Made]) -> None:
    """Who, what, when, by what and under which licence."""
    from rocrate.model.contextentity import ContextEntity

    def add(entity: str, **properties):
        return crate.add(ContextEntity(crate, entity, properties))

    authors = add("#authors", **{"@type": "Organization", "name": AUTHORS})
    licence = add(LICENCE, **{"@type": "CreativeWork", "name": "MIT License", "identifier": "MIT"})
    root, workflow = crate.root_dataset, crate.mainEntity
    profiles = [
        add(identifier, **{"@type": "CreativeWork", "name": name, "version": identifier.rpartition("/")[2]})
        for identifier, name in PROFILES.items()
    ]
    root["conformsTo"] = profiles
    ends = [job.ended for job in jobs] or [Path(paths.report(scale)).stat().st_mtime]
    began = min((job.began for job in jobs), default=min(ends))
    root["name"] = f"privarms: a run at scale {scale}"
    root["description"] = _described(scale)
    root["datePublished"] = _time(max(ends))
    root["license"], root["author"], root["publisher"] = licence, authors, authors
    root["citation"] = [
        add(
            f"#{paper}",
            **{"@type": "ScholarlyArticle", "name": about["title"], "datePublished": str(about["year"])},
            creditText=f"{about['authors']} ({about['year']}). {about['title']}. {about['venue']}",
        )
        for paper, about in papers().items()
    ]
    workflow["creator"] = authors
    workflow["version"] = __version__
    workflow["softwareRequirements"] = crate.get("project/uv.lock")
    workflow["conformsTo"] = {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"}
    crate.get("README.md")["about"] = root
    config = settings.read(paths.PROJECT / "config" / "config.yaml")
    asked, given = [], []
    for name, value, kind in (("scale", scale, "Text"), ("seed", config["seed"], "Integer")):
        parameter = add(
            f"#parameter-{name}",
            **{"@type": "FormalParameter", "additionalType": kind, "name": name, "valueRequired": True},
            conformsTo={"@id": "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"},
        )
        asked.append(parameter)
        given.append(
            add(
                f"#{name}",
                **{"@type": "PropertyValue", "name": name, "value": str(value), "exampleOfWork": parameter},
            )
        )
    workflow["input"] = asked
    results = [e for e in crate.data_entities if str(e.id).startswith("results/")]
    configured = ["project/config/config.yaml", "project/config/quick.yaml"][: 1 + (scale == "quick")]
    root["mentions"] = crate.add_action(
        workflow,
        identifier="#run",
        object=[*given, *map(crate.get, [*configured, "project/data/sources.yaml"])],
        result=results,
        properties={
            "name": f"The run of privarms at scale {scale}",
            "description": f"{len(jobs)} jobs; each with its files and times in provenance/jobs.csv",
            "startTime": _time(began),
            "endTime": _time(max(ends)),
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "agent": {"@id": "#authors"},
        },
    )


def papers() -> dict[str, dict]:
    """paper -> its title, authors, year and venue, as config/studies says."""
    found = {}
    for file in sorted((paths.PROJECT / "config" / "studies").glob("*.yaml")):
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        found[file.stem] = {key: content[key] for key in ("title", "authors", "year", "venue")}
    return found


def _described(scale: str) -> str:
    known = ledger.read_statements(paths.statements(scale))
    return (
        "Every figure and table of papers on differentially private bandits, re-run, and each published statement "
        f"judged: {changes.counted(known, 'outcome', ledger.OUTCOMES)}, of {len(known):,} statements, at scale {scale}."
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def readme(scale: str, jobs: list[Made]) -> str:
    """What the crate says of itself."""
    rows = ledger.read(paths.ledger(scale))
    rules = Counter(job.rule for job in jobs)
    data = Counter(row["data"] or "nothing" for row in rows)
    when = f", {_time(jobs[0].began)} to {_time(max(job.ended for job in jobs))}" if jobs else ""
    listed = "\n".join(
        f"- `{paper}`: {about['authors']} ({about['year']}). *{about['title']}*. {about['venue']}"
        for paper, about in papers().items()
    )
    nothing = f"; nothing was measured for {data['nothing']:,}" if data["nothing"] else ""
    return f"""# A run of privarms at scale {scale}

{_described(scale)}

This is one run of it, with all that is needed to read it, to check it and to make it again. It is a Workflow Run
RO-Crate (https://w3id.org/ro/wfrun/workflow/0.5): `ro-crate-metadata.json` says the same to programs.

| where | what |
|---|---|
| `results/{scale}/report.html` | open this first: everything on one page, without a network |
| `results/{scale}/ledger.csv` | every claim: published, reproduced, tolerance, verdict, note |
| `results/{scale}/statements.csv` | what is known of each statement, from the claims about it |
| `results/{scale}/audit.csv` | every privacy audit |
| `results/{scale}/figures/`, `tables/` | figures with the numbers that they draw; tables |
| `results/{scale}/studies/*/*_cells.parquet` | a row per cell of every study; replicate rows are not packed |
| `project/` | what made it: Snakefile, library, configuration, the locked versions of all packages |
| `project/docs/output.md` | every column and unit |
| `provenance/jobs.csv` | every job: rule, when it began and ended, what it wrote and read |
| `provenance/logs/`, `benchmarks/`, `data/` | their logs, times and memory; what is known of each dataset |
| `provenance/software.json` | the versions that ran, and the revision of the project |

## What was found

{changes.counted(rows, "verdict", VERDICTS)}, of {len(rows):,} claims, which rest on data that are
{changes.counted(rows, "data", [kind for kind in ledger.DATA if kind])}{nothing}.
{len(jobs):,} jobs{when}: {", ".join(f"{n} {rule}" for rule, n in rules.items())}.

## The papers

{listed}

## Make it again

With Python 3.11 or newer, git and make: `cd project && make {scale}`. The same configuration gives the same bytes on
one type of machine, but for times. Raw data are not packed; `project/data/README.md` says where they come from.

## Licence

MIT (`project/LICENSE`), {AUTHORS}; the data have licences of their own (`project/data/sources.yaml`). How to cite it:
`project/CITATION.cff`; what it rests on: `project/references.bib`.
"""
