"""What is made of the studies: inference tables, artifacts and claims, and what each of them reads."""

from collections.abc import Mapping
from pathlib import Path

from privarms.errors import PrivarmsError, check_known
from privarms.report import findings
from privarms.studies import claims as of_claims
from privarms.studies import defaults, library, paths
from privarms.studies.simulation import Simulation


class Outputs:
    """The inference tables, artifacts and claims of a run."""

    def __init__(self, config: Mapping, simulation: Simulation):
        self.scale = config["scale"]
        self.papers = simulation.papers
        self.simulation = simulation
        self.datasets = simulation.datasets
        self._config = config
        self._said: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self.left_out, files = self._claim_files()
        self.claims = {
            paper: of_claims.load(
                file,
                self.scale,
                self.papers[paper]["artifacts"],
                of_claims.published(self._in("published", paper), paper),
            )
            for paper, file in files.items()
        }
        for paper in self.papers:
            self._refuse_unknown_functions(paper)
            self._refuse_unknown_reads(paper)
            content, file = self.papers[paper], self._file_of("studies", paper)
            findings.check(str(file), content.get("findings", {}), content["artifacts"], self.claims.get(paper, []))

    def _in(self, room: str, paper: str) -> str:
        return paths.folder(self._config, room, paper)

    def _file_of(self, room: str, paper: str) -> Path:
        return Path(self._in(room, paper), f"{paper}.yaml")

    def _claim_files(self) -> tuple[list[Path], dict[str, Path]]:
        """The files without a paper in this run, and those of the papers."""
        folders = paths.folders(self._config, "claims")
        files: dict[str, Path] = {}
        for file in (file for folder in folders for file in sorted(Path(folder).glob("*.yaml"))):
            if file.stem in files:
                raise PrivarmsError(
                    f"{file}: expected one file of claims a paper; {files[file.stem]} is there; rename one"
                )
            files[file.stem] = file
        if not any(Path(folders[0]).glob("*.yaml")):
            raise PrivarmsError(f"config/config.yaml: claims: no *.yaml file in the folder {folders[0]!r}")
        return [f for name, f in files.items() if name not in self.papers], {
            paper: files[paper] for paper in self.papers if paper in files
        }

    def _refuse_unknown_functions(self, paper: str) -> None:
        """Every kind of artifact and inference table must have its module, and every claim its function.

        Modules of claims are light. Those of figures and tables import matplotlib: their jobs look for functions.
        """
        content, file = self.papers[paper], self._file_of("studies", paper)
        wanted = {"inference"} if content.get("inference") else set()
        for name, entry in content["artifacts"].items():
            kind = entry["kind"]
            if "default" not in entry:
                wanted.add(f"{kind}s")
            elif len(entry["studies"]) != 1 or defaults.KINDS[entry["default"]] != kind:
                expected = f"a {defaults.KINDS[entry['default']]} of one study"
                raise PrivarmsError(f"{file}: artifacts.{name}.default: {entry['default']} is {expected}; correct it")
        claims = self.claims.get(paper, [])
        wanted |= {"claims"} if any(isinstance(claim.get("measure"), str) for claim in claims) else set()
        for module in sorted(wanted):
            if not library.paper_file(paper, module).is_file():
                raise PrivarmsError(f"{file}: expected the module papers/{paper}/{module}.py; found none")
        measures = library.load_module(self.module(paper, "claims")).MEASURES if "claims" in wanted else {}
        for claim in claims:
            where = f"{self._file_of('claims', paper)}: {claim['claim']}"
            for dataset in _listed(claim.get("dataset")):
                check_known(f"{where}.dataset", "dataset", dataset, self.datasets.sources)
            measure = claim.get("measure")
            if isinstance(measure, Mapping):
                for one in (measure, measure.get("to", {})):
                    for key, known in (("table", content.get("inference", {})), ("cells", content["studies"])):
                        for name in _listed(one.get(key)):
                            check_known(f"{where}.measure.{key}", "name", name, known)
            elif measure is not None:
                self._refuse_wrong_arguments(where, paper, measures, claim)

    @staticmethod
    def _refuse_wrong_arguments(where: str, paper: str, measures: Mapping, claim: Mapping) -> None:
        """A claim's function must exist and take the claim's arguments."""
        if claim["measure"] not in measures:
            expected = f"papers/{paper}/claims.py: MEASURES holds {', '.join(measures) or 'nothing'}"
            raise PrivarmsError(f"{where}.measure: no function {claim['measure']!r}; {expected}")
        takes = library.function_arguments(measures[claim["measure"]])
        named = set(claim.get("arguments", {}))
        missing = {k for k, argument in takes.items() if argument.required} - {"results"} - named
        if missing or not named <= set(takes) - {"results"}:
            expected = ", ".join(k for k in takes if k != "results") or "none"
            raise PrivarmsError(f"{where}.arguments: {claim['measure']} takes {expected}; found {sorted(named)}")

    def _refuse_unknown_reads(self, paper: str) -> None:
        content, file = self.papers[paper], self._file_of("studies", paper)
        for room in ("inference", "artifacts"):
            for name, entry in content.get(room, {}).items():
                for key, known in (("studies", content["studies"]), ("inference", content.get("inference", {}))):
                    for one in entry.get(key, []):
                        check_known(f"{file}: {room}.{name}.{key}", "name", one, known)
        claims = [claim["claim"] for claim in self.claims.get(paper, [])]
        for number, reading in enumerate(content["readings"]):
            for name in reading.get("affects", []):
                check_known(f"{file}: readings[{number}].affects", "artifact", name, content["artifacts"])
            for name in reading.get("tried", []):
                check_known(f"{file}: readings[{number}].tried", "claim", name, claims)

    def _kind(self, paper: str, artifact: str) -> str:
        return self.papers[paper]["artifacts"][artifact]["kind"]

    def published_files(self, paper: str) -> list[str]:
        """The files with what a paper prints."""
        return paths.published(self._in("published", paper), paper)

    # Where functions are

    def module(self, paper: str, name: str) -> str:
        """A module of the paper's artifacts, dotted: inference or claims."""
        return library.paper_module(paper, name)

    def function(self, paper: str, kind: str, file: str) -> tuple[str, str]:
        """The module, dotted, whose table of functions makes the artifact with these files, and the name there."""
        artifact = self.artifact_named(paper, kind, file)
        default = self.papers[paper]["artifacts"][artifact].get("default")
        if default:
            return defaults.MODULE, default
        return library.paper_module(paper, f"{kind}s"), artifact

    # Inference tables

    def _inference_studies(self, paper: str, table: str) -> list[str]:
        return self.papers[paper]["inference"][table]["studies"]

    def inference(self, paper: str) -> list[str]:
        """The paper's inference tables whose studies have cells in this run."""
        there = set(self.simulation.studies(paper))
        return [t for t in self.papers[paper].get("inference", {}) if set(self._inference_studies(paper, t)) <= there]

    def inference_inputs(self, paper: str, table: str) -> dict[str, list[str]]:
        """What an inference table is computed from."""
        tables = self.papers.get(paper, {}).get("inference", {})
        check_known(paper, "inference table", table, tables)
        studies = self._inference_studies(paper, table)
        return {
            "studies": [paths.study(self.scale, paper, s) for s in studies],
            "cells": [paths.cells(self.scale, paper, s) for s in studies],
            "published": self.published_files(paper),
            "audit": [paths.audit(self.scale)] if tables[table].get("audits") else [],
        }

    def inference_cells(self, paper: str, table: str) -> dict[str, list[dict]]:
        """study -> the cells on which an inference table rests."""
        return {s: self.simulation.plain_cells(paper, s) for s in self._inference_studies(paper, table)}

    # Artifacts

    def artifacts(self, paper: str, kind: str | None = None) -> list[str]:
        """The paper's artifacts that can be made in this run, in the order of the configuration."""
        return [
            name
            for name in self.papers[paper]["artifacts"]
            if kind in (None, self._kind(paper, name)) and not self.lacking(paper, name)
        ]

    def studies_of(self, paper: str, artifact: str) -> list[str]:
        """The studies on which an artifact rests, directly or through inference tables, in the paper's order."""
        entry = self.papers[paper]["artifacts"][artifact]
        used = set(entry["studies"])
        for table in entry.get("inference", []):
            used |= set(self._inference_studies(paper, table))
        return [s for s in self.papers[paper]["studies"] if s in used]

    def lacking(self, paper: str, artifact: str) -> list[str]:
        """The missing datasets without which an artifact cannot be made."""
        entry = self.papers[paper]["artifacts"][artifact]
        missing = {d for s in self.studies_of(paper, artifact) for d in self.simulation.lacking(paper, s)}
        if "dataset" in entry and self.datasets.is_missing(entry["dataset"]):
            missing.add(entry["dataset"])
        return sorted(missing)

    def origin(self, paper: str, artifact: str) -> str:
        """What an artifact rests on: stand-in, real or simulated; one about a dataset rests on that alone."""
        entry = self.papers[paper]["artifacts"][artifact]
        if "dataset" in entry:
            return self.datasets.origin([entry["dataset"]])
        return self.datasets.origin(
            {d for s in self.studies_of(paper, artifact) for d in self.simulation.datasets_of(paper, s)}
        )

    def artifact_inputs(self, paper: str, artifact: str) -> dict[str, list[str]]:
        """What an artifact reads: summaries of cells, inference tables, facts about datasets, published numbers."""
        entry = self.papers[paper]["artifacts"][artifact]
        there = set(self.simulation.studies(paper))
        datasets = {d for s in self.studies_of(paper, artifact) for d in self.simulation.datasets_of(paper, s)}
        datasets |= {entry["dataset"]} & set(self.datasets_of(paper)) if "dataset" in entry else set()
        return {
            "cells": [paths.cells(self.scale, paper, s) for s in entry["studies"] if s in there],
            "inference": [paths.inference(self.scale, paper, t) for t in entry.get("inference", [])],
            "facts": [self.datasets.prepared(d, "json") for d in sorted(datasets)],
            "published": self.published_files(paper),
        }

    def artifact_named(self, paper: str, kind: str, file: str) -> str:
        """The artifact of a kind whose files have this name."""
        artifacts = self.papers.get(paper, {}).get("artifacts", {})
        named = {self._file(paper, name): name for name in artifacts if self._kind(paper, name) == kind}
        check_known(paper, kind, file, named)
        return named[file]

    def _file(self, paper: str, artifact: str) -> str:
        """What its files are called: its own name, but for a table that shares the name of a figure."""
        return self.papers[paper]["artifacts"][artifact].get("file", artifact)

    def sheets(self, paper: str) -> list[str]:
        """The names of the files of the paper's tables that are laid out for reading."""
        entries = self.papers[paper]["artifacts"]
        return [self._file(paper, name) for name in self.artifacts(paper, "table") if entries[name].get("sheet")]

    def artifact_files(self, paper: str, artifact: str) -> list[str]:
        """The files that make up an artifact."""
        kind, file = self._kind(paper, artifact), self._file(paper, artifact)
        formats = paths.FIGURE_FORMATS if kind == "figure" else paths.TABLE_FORMATS
        if kind == "table" and file in self.sheets(paper):
            formats = paths.SHEET_FORMATS
        return [paths.artifact(self.scale, kind, paper, file, extension) for extension in formats]

    def files(self, kind: str, *of_papers: str) -> list[str]:
        """The files of all artifacts of a kind, of all papers or of some."""
        return [
            file
            for paper in of_papers or self.papers
            for name in self.artifacts(paper, kind)
            for file in self.artifact_files(paper, name)
        ]

    def missing_artifacts(self, paper: str) -> dict[str, str]:
        """artifact -> why it cannot be made in this run."""
        return {
            name: " ".join(self.datasets.missing_message(d) for d in lacking)
            for name in self.papers[paper]["artifacts"]
            if (lacking := self.lacking(paper, name))
        }

    def artifact_target(self, paper: str, artifact: str) -> list[str]:
        """The files of one artifact, asked for by name; PrivarmsError if its data are missing."""
        message = self.missing_artifacts(paper).get(artifact)
        if message:
            raise PrivarmsError(f"{paper}_{artifact}: {message}")
        return self.artifact_files(paper, artifact)

    # Claims

    def datasets_of(self, paper: str) -> list[str]:
        """The datasets that anything of a paper uses, and that are there."""
        found = {d for s in self.simulation.studies(paper) for d in self.simulation.datasets_of(paper, s)}
        found |= {a["dataset"] for a in self.papers[paper]["artifacts"].values() if "dataset" in a}
        return sorted(d for d in found if not self.datasets.is_missing(d))

    def claim_modules(self, paper: str) -> list[str]:
        """The module, dotted, with the paper's own measures; none where all of them are declared."""
        return [self.module(paper, "claims")] if library.paper_file(paper, "claims").is_file() else []

    def claim_inputs(self, paper: str) -> dict[str, list[str]]:
        """What the paper's claims read."""
        return {
            "cells": [paths.cells(self.scale, paper, s) for s in self.simulation.studies(paper)],
            "inference": [paths.inference(self.scale, paper, t) for t in self.inference(paper)],
            "facts": [self.datasets.prepared(d, "json") for d in self.datasets_of(paper)],
            "published": self.published_files(paper),
        }

    def claim_data(self, paper: str) -> list[tuple[str, str | None]]:
        """What each claim of a paper rests on (stand-in, real or simulated), and why it cannot be measured, if so."""
        missing = self.missing_artifacts(paper)
        found = []
        for claim in self.claims[paper]:
            needed, artifact = _listed(claim.get("dataset")), claim["artifact"]
            used = [d for d in needed if d in self.datasets.statuses]
            data = self.datasets.origin(used) if used else self.origin(paper, artifact)
            lacking = [self.datasets.missing_message(d) for d in used if self.datasets.is_missing(d)]
            lacking += [f"No study of this run uses {d}." for d in needed if d not in used]
            found.append((data, " ".join(lacking) or missing.get(artifact)))
        return found

    # Report

    def shown(self, paper: str) -> str:
        """What a paper is called in reports."""
        return self.papers[paper].get("short", paper)

    def title(self, paper: str, kind: str, file: str) -> str:
        """The title of the artifact with these files."""
        return self.papers[paper]["artifacts"][self.artifact_named(paper, kind, file)]["title"]

    def described(self) -> list[dict]:
        """For the report: what it shows of each paper."""
        about = ("title", "authors", "year", "venue", "short", "readings", "findings")
        return [
            {
                "key": paper,
                **{k: content.get(k, "") for k in about},
                "columns": content.get("columns", {}),
                "policies": self._policies(paper),
                "claims": self.claims.get(paper, []),
                "artifacts": [self._described(paper, name, lacking.get(name)) for name in content["artifacts"]],
            }
            for paper, content in self.papers.items()
            for lacking in [self.missing_artifacts(paper)]
        ]

    def _policies(self, paper: str) -> dict[str, str]:
        """policy -> what readers call it."""
        policies = {c.policy for s in self.simulation.studies(paper) for c in self.simulation.cells(paper, s)}
        return {p: library.attributes("policies", p).get("LABEL", p) for p in sorted(policies)}

    def _described(self, paper: str, name: str, reason: str | None) -> dict:
        entry = self.papers[paper]["artifacts"][name]
        there = set(self.simulation.studies(paper))
        found = {
            "name": name,
            **{k: entry[k] for k in ("kind", "title", "caption")},
            **{k: entry[k] for k in ("card", "tab", "front") if k in entry},
            "settings": {s: self._settings(paper, s) for s in self.studies_of(paper, name)},
            "data": self.origin(paper, name),
            "behind": [paths.cells(self.scale, paper, s) for s in self.studies_of(paper, name) if s in there],
        }
        if reason:
            return found | {"files": {}, "reason": reason}
        return found | {"files": {file.rsplit(".", 1)[1]: file for file in self.artifact_files(paper, name)}}

    def _settings(self, paper: str, study: str) -> list[tuple[str, str]]:
        # Many artifacts may rest on one study.
        if (paper, study) not in self._said:
            self._said[paper, study] = _settings(self.simulation.cells(paper, study))
        return self._said[paper, study]


def _listed(one_or_many: str | list[str] | None) -> list[str]:
    return one_or_many if isinstance(one_or_many, list) else [one_or_many] if one_or_many else []


# What readers call what every study has; parameters keep the names that the papers give them.
SETTINGS = {"policies": "policies", "T": "horizon T", "replicates": "runs a setting", "K": "arms K"}


def _settings(cells: list) -> list[tuple[str, str]]:
    """What the cells of a study share and over what they range: names and texts."""
    # Keys and not lists: an axis may have as many values as the study has cells.
    values: dict[str, dict] = {"policies": {}, "T": {}, "replicates": {}}
    for cell in cells:
        label = library.attributes("policies", cell.policy).get("LABEL", cell.policy)
        row = {"policies": label, "T": cell.horizon, "replicates": cell.replicates, **cell.parameters}
        for key, value in row.items():
            if value is not None:
                values.setdefault(key, {}).setdefault(value)
    seconds = sum(cell.seconds * cell.replicates for cell in cells)
    said = [(SETTINGS.get(key, key.replace("_", " ")), _range(list(found))) for key, found in values.items() if found]
    return [*said, ("time", f"about {duration(seconds)} on one core, by estimate")] if cells else said


def duration(seconds: float) -> str:
    """A duration for reading."""
    units = {"days": 86_400, "hours": 3_600, "minutes": 60, "s": 1, "ms": 1e-3, "microseconds": 1e-6}
    unit = next((u for u, size in units.items() if seconds >= size), "microseconds")
    found = seconds / units[unit]
    return f"{found:,.0f} {unit}" if found >= 10 else f"{found:.2g} {unit}"


def _range(found: list) -> str:
    texts = [f"{v:,}" if isinstance(v, int) and not isinstance(v, bool) else str(v).replace("_", " ") for v in found]
    if len(texts) > 8:
        return f"{texts[0]} to {texts[-1]} ({len(texts)} values)"
    return ", ".join(texts)
