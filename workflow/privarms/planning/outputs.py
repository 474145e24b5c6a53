"""The outputs of the studies: inference tables, artifacts and statements, and the studies and data behind them."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from privarms.errors import PrivarmsError, check_known
from privarms.files import settings
from privarms.planning import described, paths, published
from privarms.planning import statements as of_statements
from privarms.planning.configuration import Configuration
from privarms.planning.simulation import Simulation
from privarms.planning.statements import Statement
from privarms.registry.artifacts import Artifact, InferenceTable
from privarms.registry.modules import PolicyModule


class Outputs:
    """The inference tables, artifacts and statements of a run."""

    def __init__(self, config: Configuration, simulation: Simulation):
        self.scale = config.scale
        self.papers = simulation.papers
        self.simulation = simulation
        self.datasets = simulation.datasets
        self._folders = {paper: paths.folder(config.papers, paper) for paper in self.papers}
        self.statements = {
            paper: self._load(Path(folder, "statements.yaml"), paper)
            for paper, folder in self._folders.items()
            if Path(folder, "statements.yaml").is_file()
        }
        for paper in self.papers:
            for file in paths.published(self._folders[paper]):
                if file.endswith(".yaml"):
                    published.numbers(Path(file))
            for where, names, known in self._references(paper):
                for name in names:
                    check_known(where, "name", name, known)

    def _load(self, file: Path, paper: str) -> list[Statement]:
        content = self.papers[paper]
        known = {"artifacts": content.artifacts, "tables": content.inference}
        known |= {"tags": self.simulation.tags[paper], "datasets": self.datasets.sources}
        return of_statements.load(file, paper, **known, printed=self.printed(paper))

    def printed(self, paper: str) -> dict[str, str]:
        """Return name -> file of the paper's printed tables."""
        return {Path(f).stem: f for f in self.published(paper) if f.endswith(".csv")}

    def _references(self, paper: str) -> Iterator[tuple[str, Iterable[str], Collection[str]]]:
        """Yield what the configuration and the package of a paper name: place, names, known names."""
        content, file = self.papers[paper], f"{self._folders[paper]}/studies.yaml"
        studies, tables, artifacts = content.studies, content.inference, content.artifacts
        for name, entry in artifacts.items():
            yield f"{'.'.join(entry.made_by[:2])}: {name}: inference", entry.inference, tables
        statements = [one.name for one in self.statements.get(paper, [])]
        # A file that lists its artifacts may lack the studies of tables that nothing reads.
        used = {table for entry in artifacts.values() for table in entry.inference}
        used |= {one.table for one in self.statements.get(paper, [])}
        for name, entry in [*artifacts.items(), *((table, tables[table]) for table in tables if table in used)]:
            yield f"{'.'.join(entry.made_by[:2])}: {name}: studies", entry.studies, studies
        for number, assumption in enumerate(content.about.readings):
            yield f"{file}: readings[{number}].affects", assumption.affects, artifacts
            yield f"{file}: readings[{number}].tried", assumption.tried, statements

    def entry(self, paper: str, artifact: str) -> Artifact:
        """Return what an artifact shows and which function makes it."""
        return self.papers[paper].artifacts[artifact]

    def inference_table(self, paper: str, table: str) -> InferenceTable:
        """Return what an inference table reads and which function makes it."""
        tables = self.papers[paper].inference if paper in self.papers else {}
        check_known(paper, "inference table", table, tables)
        return tables[table]

    def inference(self, paper: str) -> list[str]:
        """Return the paper's inference tables whose studies have cells in this run."""
        run = set(self.simulation.studies(paper))
        return [name for name, table in self.papers[paper].inference.items() if set(table.studies) <= run]

    def published(self, paper: str) -> list[str]:
        """Return the files with the paper's published numbers and tables."""
        return paths.published(self._folders[paper])

    def artifacts(self, paper: str, kind: str) -> list[str]:
        """Return the paper's artifacts of a kind that can be made in this run, in the order of the configuration."""
        return [
            name
            for name, entry in self.papers[paper].artifacts.items()
            if entry.kind == kind and not self.lacking(paper, name)
        ]

    def studies_of(self, paper: str, artifact: str) -> list[str]:
        """Return the studies that an artifact uses, directly or through inference tables, in the paper's order."""
        entry = self.entry(paper, artifact)
        used = set(entry.studies)
        for table in entry.inference:
            used |= set(self.inference_table(paper, table).studies)
        return [s for s in self.papers[paper].studies if s in used]

    def _datasets_behind(self, paper: str, artifact: str) -> set[str]:
        return {d for s in self.studies_of(paper, artifact) for d in self.simulation.datasets_of(paper, s)}

    def lacking(self, paper: str, artifact: str) -> list[str]:
        """Return the missing datasets without which an artifact cannot be made."""
        missing = {d for s in self.studies_of(paper, artifact) for d in self.simulation.lacking(paper, s)}
        about = self.entry(paper, artifact).dataset
        return sorted(missing | ({about} if about and self.datasets.is_missing(about) else set()))

    def origin(self, paper: str, artifact: str) -> str:
        """Return the data behind an artifact: stand-in, real or simulated; only its own dataset counts, if any."""
        about = self.entry(paper, artifact).dataset
        return self.datasets.origin({about} if about else self._datasets_behind(paper, artifact))

    def datasets_shown(self, paper: str, artifact: str) -> list[str]:
        """Return the available datasets that an artifact shows: those of its studies, and its own."""
        about = self.entry(paper, artifact).dataset
        own = {about} if about and not self.datasets.is_missing(about) else set()
        return sorted(self._datasets_behind(paper, artifact) | own)

    def private_policies(self, paper: str, artifact: str) -> list[tuple[str, str]]:
        """Return the policies, with their variants ("" without one), that claim an epsilon and that an artifact shows.

        An artifact shows all cells of its studies, or only those of its policies and of its function's variant.
        """
        entry = self.entry(paper, artifact)
        variant = entry.made_by[2].get("variant", "")
        cells = [c for s in self.studies_of(paper, artifact) for c in self.simulation.cells[paper, s]]
        found = {(cell.policy, cell.variant) for cell in cells}
        if entry.policies is not None:
            found = {(policy, own) for policy, own in found if policy in entry.policies}
        if variant:
            found = {(policy, own) for policy, own in found if own in ("", variant)}
        return sorted((policy, own) for policy, own in found if PolicyModule(policy).claims_epsilon)

    def sheets(self, paper: str) -> list[str]:
        """Return the names of the files of the paper's tables that are laid out for reading."""
        entries = {name: self.entry(paper, name) for name in self.artifacts(paper, "table")}
        return [entry.file or name for name, entry in entries.items() if entry.sheet]

    def artifact_files(self, paper: str, artifact: str) -> list[str]:
        """Return the files of an artifact; a table may share the name of a figure."""
        entry = self.entry(paper, artifact)
        formats = paths.FIGURE_FORMATS if entry.kind == "figure" else paths.TABLE_FORMATS
        formats = paths.SHEET_FORMATS if entry.sheet else formats
        return [paths.artifact(self.scale, entry.kind, paper, entry.file or artifact, suffix) for suffix in formats]

    def files(self, kind: str, *of_papers: str) -> list[str]:
        """Return the files of all artifacts of a kind, of all papers or of some."""
        return [
            file
            for paper in of_papers or self.papers
            for name in self.artifacts(paper, kind)
            for file in self.artifact_files(paper, name)
        ]

    def missing_artifacts(self, paper: str) -> dict[str, str]:
        """Return artifact -> why it cannot be made in this run."""
        return {
            name: " ".join(self.datasets.missing_message(d) for d in lacking)
            for name in self.papers[paper].artifacts
            if (lacking := self.lacking(paper, name))
        }

    def artifact_target(self, paper: str, artifact: str) -> list[str]:
        """Return the files of one artifact and its verdicts; PrivarmsError if its data are missing."""
        if message := self.missing_artifacts(paper).get(artifact):
            raise PrivarmsError(f"{paper}_{artifact}: {message}")
        verdicts = [paths.cases(self.scale, f"{paper}/{artifact}")] if self.statements_about(paper, artifact) else []
        return [*self.artifact_files(paper, artifact), *verdicts]

    def statements_about(self, paper: str, artifact: str | None = None) -> list[Statement]:
        """Return the paper's statements, or those about one artifact."""
        return [one for one in self.statements.get(paper, []) if artifact in (None, one.artifact)]

    def statement_data(self, paper: str, statement: Statement) -> tuple[str, str]:
        """Return a statement's data (simulated, real, stand-in), and why it has no table ("" if it has)."""
        if not statement.table:
            return "", ""
        studies = self.inference_table(paper, statement.table).studies
        used = set(statement.datasets) or {d for s in studies for d in self.simulation.datasets_of(paper, s)}
        missing = {d for s in studies for d in self.simulation.lacking(paper, s)}
        missing |= {d for d in used if d not in self.datasets.statuses or self.datasets.is_missing(d)}
        has_table = statement.table in self.inference(paper) and not set(statement.datasets) & missing
        reason = f"The data of {', '.join(sorted(missing))} are not there." if missing else "No data."
        return self.datasets.origin(used - missing), "" if has_table else reason

    def has_all_rows(self, paper: str, statement: Statement) -> bool:
        """Return whether a statement's table has the rows of scale paper: published settings, and only real data."""
        if not statement.table:
            return False
        content, table = self.papers[paper], self.inference_table(paper, statement.table)
        used = {*table.datasets, *statement.datasets}
        used |= {d for study in table.studies for d in content.studies[study].datasets}
        as_published = set(table.studies).isdisjoint(content.shrunk) and (self.scale == "paper" or not table.audits)
        return as_published and all(self.datasets.statuses.get(d) == "real" for d in used)

    def described(self) -> list[dict]:
        """Return the papers for the report."""
        return [
            {
                "key": name,
                **{k: getattr(paper.about, k) or "" for k in ("title", "authors", "year", "venue", "short")},
                "readings": [one.model_dump(exclude_unset=True) for one in paper.about.readings],
                "artifacts": self._artifacts_described(name),
            }
            for name, paper in self.papers.items()
        ]

    def _artifacts_described(self, paper: str) -> list[dict]:
        missing = self.missing_artifacts(paper)
        return [
            {
                "name": name,
                **{k: getattr(entry, k) for k in ("kind", "title", "card", "tab", "front")},
                "caption": f"{entry.caption}{self._runs(paper, self.studies_of(paper, name))}",
                "data": self.origin(paper, name),
                "private_policies": self.private_policies(paper, name),
                "settings": self._settings(paper, name),
                "further": self._further(paper, name),
                "files": {} if name in missing else {f.rsplit(".", 1)[1]: f for f in self.artifact_files(paper, name)},
                "reason": missing.get(name, ""),
            }
            for name, entry in self.papers[paper].artifacts.items()
        ]

    def _settings(self, paper: str, artifact: str) -> list[dict]:
        """Return the settings of all artifacts in the same tab, as `described.settings`, with study, file and lines."""
        artifacts = self.papers[paper].artifacts
        entry = artifacts[artifact]
        tab = [name for name, one in artifacts.items() if entry.tab and (one.card, one.tab) == (entry.card, entry.tab)]
        found = []
        for study in dict.fromkeys(study for name in tab or [artifact] for study in self.studies_of(paper, name)):
            about = self._place(paper, study)
            cells = self.simulation.cells[paper, study]
            found += [about | row for row in described.settings(cells, tab or [artifact])]
        return found

    def _further(self, paper: str, artifact: str) -> list[dict]:
        """Return the studies, with file and lines, that statements about an artifact use and the artifact does not."""
        used: dict[str, None] = {}
        for statement in (one for one in self.statements_about(paper, artifact) if one.table):
            tags = set(statement.where.get("tag", ()))
            for study in self.inference_table(paper, statement.table).studies:
                if not tags or any(tags.intersection(cell.tags) for cell in self.simulation.cells[paper, study]):
                    used[study] = None
        own = self.studies_of(paper, artifact)
        return [self._place(paper, study) for study in used if study not in own]

    def _place(self, paper: str, study: str) -> dict:
        """Return a study with its file and lines, for links."""
        file = f"{self._folders[paper]}/studies.yaml"
        return {"study": study, "file": file, "lines": settings.lines(file, "studies", study)}

    def _runs(self, paper: str, studies: list[str]) -> str:
        """Return a sentence on the number of runs per setting of these studies at this scale; "" if none runs."""
        runs = sorted({cell.replicates for study in studies for cell in self.simulation.cells[paper, study]})
        if not runs:
            return ""
        ends = " to ".join(f"{n:,}" for n in sorted({runs[0], runs[-1]}))
        return f" {ends} {'run' if runs[-1] == 1 else 'runs'} per setting."
