"""The jobs of a run: their inputs, parameters and priorities, which the rules of the Snakefile ask for.

    plan.jobs["draw_figures"]["neel2018", "fig6"].inputs

A job's key is its wildcards, in the order of the rule's output. It is planned when Snakemake first asks for it: a job
on a cluster plans the run again, and needs only itself.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial, partialmethod
from pathlib import Path

from privarms.errors import check_known
from privarms.execution.cell import Cell, plain
from privarms.files.whole import sha256
from privarms.planning import paths
from privarms.planning.configuration import Configuration
from privarms.planning.outputs import Outputs
from privarms.registry import digests, library
from privarms.registry.modules import EnvironmentModule, PolicyModule, ProtocolModule


@dataclass(frozen=True)
class Job:
    """One job; made_params: returns its parameters, which are computed on demand because digests take time."""

    inputs: Mapping[str, list[str]]
    made_params: Callable[[], dict]
    priority: float = 0
    minutes: int = 0

    @cached_property
    def params(self) -> dict:
        """Return the parameters by name."""
        return self.made_params()


class JobsOfRule(dict):
    """The jobs of a rule by key, and functions of the wildcards for its directives."""

    def __init__(self, planned: Callable[..., Job]):
        super().__init__()
        self._planned = planned

    def __missing__(self, key: tuple[str, ...]) -> Job:
        return self.setdefault(key, self._planned(*key))

    def inputs(self, wildcards: Iterable[str]) -> Mapping[str, list[str]]:
        return self[tuple(wildcards)].inputs

    def priority(self, wildcards: Iterable[str]) -> float:
        return self[tuple(wildcards)].priority

    def minutes(self, wildcards: Iterable[str], attempt: int) -> int:
        return attempt * self[tuple(wildcards)].minutes

    def params(self, *names: str) -> dict[str, Callable]:
        """Return name -> function of the wildcards, because Snakemake unpacks functions of inputs only."""
        return {name: partial(self._param, name) for name in names}

    def _param(self, name: str, wildcards: Iterable[str]) -> object:
        return self[tuple(wildcards)].params[name]


class Jobs(dict):
    """The jobs of a run by rule. The method with the rule's name plans a job; its arguments are the job's key."""

    def __init__(self, config: Configuration, outputs: Outputs):
        super().__init__()
        self.scale, self.seed = config.scale, config.seed
        self.outputs, self.simulation, self.datasets = outputs, outputs.simulation, outputs.datasets
        # Papers run one after another, in the order of their years, so the first results come early.
        self.priority = {paper: number for number, paper in enumerate(reversed(list(outputs.papers)), 1)}

    def __missing__(self, rule: str) -> JobsOfRule:
        return self.setdefault(rule, JobsOfRule(getattr(self, rule)))

    def simulate_shard(self, paper: str, shard: str) -> Job:
        pieces = self.simulation.shard(paper, shard).pieces
        cells = [piece.cell for piece in pieces]
        datasets = sorted({cell.dataset for cell in cells if cell.dataset is not None})
        return Job(
            {"prepared": [self.datasets.prepared(dataset) for dataset in datasets]},
            lambda: {
                "library": digests.of_job("simulate_shard", *modules_of(cells)),
                "seed": self.seed,
                "pieces": [{"cell": plain(p.cell), "first": p.first, "last": p.last} for p in pieces],
                "datasets": datasets,
                "files": digests_of_named_files(cells),
            },
            # Start one shard of each policy first: jobs that run at the same time should not compile the same kernel.
            priority=self.priority[paper] - self.simulation.delay(paper, shard),
            # An upper limit of the run time.
            minutes=5 + int(sum(piece.seconds for piece in pieces) / 20),
        )

    def aggregate_study(self, paper: str, study: str) -> Job:
        planned = self.simulation
        shards, protocol = planned.shard_files(paper, study), planned.papers[paper].studies[study].protocol
        return Job(
            {"shards": shards},
            lambda: {
                "library": digests.of_job("aggregate_study", ProtocolModule(protocol).dotted),
                "scale": self.scale,
                "seed": self.seed,
                "cells": [plain(cell) for cell in planned.cells[paper, study]],
                "statuses": {d: self.datasets.statuses[d] for d in planned.datasets_of(paper, study)},
            },
            self.priority[paper],
        )

    def compute_inference(self, paper: str, table: str) -> Job:
        entry = self.outputs.inference_table(paper, table)
        datasets = {d for study in entry.studies for d in self.simulation.datasets_of(paper, study)} | {*entry.datasets}
        available = sorted(d for d in datasets if not self.datasets.is_missing(d))
        return Job(
            {
                "studies": [paths.study(self.scale, paper, study) for study in entry.studies],
                "cells": [paths.cells(self.scale, paper, study) for study in entry.studies],
                "published": self.outputs.published(paper),
                "facts": [self.datasets.prepared(dataset, "json") for dataset in available],
                "audit": [paths.audit(self.scale)] if entry.audits else [],
            },
            lambda: {
                "library": digests.of_job("compute_inference", entry.made_by[0]),
                "published": self._digests_of_published(paper),
                "scale": self.scale,
                "seed": self.seed,
                "made_by": entry.made_by,
                "tags": self.simulation.tagged(paper, entry.studies),
            },
            self.priority[paper],
        )

    def _artifact(self, rule: str, kind: str, paper: str, file: str) -> Job:
        artifacts = self.outputs.papers[paper].artifacts if paper in self.outputs.papers else {}
        named = {entry.file or name: name for name, entry in artifacts.items() if entry.kind == kind}
        check_known(paper, kind, file, named)
        artifact, entry = named[file], artifacts[named[file]]
        run, policies = set(self.simulation.studies(paper)), self.outputs.private_policies(paper, artifact)
        extended = any(PolicyModule(policy).in_extension for policy, _ in policies)
        return Job(
            {
                "cells": [paths.cells(self.scale, paper, study) for study in entry.studies if study in run],
                "inference": [paths.inference(self.scale, paper, table) for table in entry.inference],
                "facts": [self.datasets.prepared(d, "json") for d in self.outputs.datasets_shown(paper, artifact)],
                "published": self.outputs.published(paper),
                # An artifact with a policy of an extension shows a warning if one of its policies fails its audit.
                "audit": [paths.audit_of(self.scale, p) for p in dict(policies)] if extended else [],
            },
            lambda: {
                "library": digests.of_job(rule, entry.made_by[0]),
                "published": self._digests_of_published(paper),
                "scale": self.scale,
                "made_by": entry.made_by,
                "tags": self.simulation.tagged(paper, entry.studies),
                "data": self.outputs.origin(paper, artifact),
                "policies": policies,
                "sheet": entry.sheet,
                "caption": f"{entry.title}\n\n{entry.caption}",
            },
            self.priority[paper],
        )

    draw_figures = partialmethod(_artifact, "draw_figures", "figure")
    write_tables = partialmethod(_artifact, "write_tables", "table")

    def judge_audits(self, policy: str) -> Job:
        check_known("audits", "policy", policy, library.names("policies"))
        named, claims = self.simulation.audits(policy), self.simulation.claims()
        return Job(
            {"studies": [paths.study(self.scale, paper, study) for paper, study in named]},
            lambda: {
                "library": digests.of_job("judge_audits", *self.simulation.audit_modules(policy)),
                "named": named,
                "claims": [policy] if policy in claims else [],
            },
        )

    def judge_statements(self, paper: str, artifact: str | None = None) -> Job:
        statements, run = self.outputs.statements_about(paper, artifact), set(self.outputs.inference(paper))
        tables = sorted({one.table for one in statements} & run)
        printed = sorted({one.published["table"] for one in statements if "table" in one.published})
        return Job(
            {
                "inference": [paths.inference(self.scale, paper, table) for table in tables],
                "printed": [self.outputs.printed(paper)[table] for table in printed],
            },
            lambda: {
                "library": digests.of_job("judge_statements"),
                "published": self._digests_of_published(paper),
                "statements": [asdict(one) for one in statements],
                "tagged": self.simulation.tagged(paper),
                "shrunk": self.simulation.shrunk(paper),
                "data": [self.outputs.statement_data(paper, one) for one in statements],
                "complete": [self.outputs.has_all_rows(paper, one) for one in statements],
            },
            self.priority[paper],
        )

    def _digests_of_published(self, paper: str) -> dict[str, str]:
        """Return file name -> SHA-256 of the paper's published numbers and tables.

        It is a parameter of the jobs that read them, because a replaced file may have an older date.
        """
        return {Path(file).name: sha256(file) for file in self.outputs.published(paper)}


def modules_of(cells: Sequence[Cell]) -> list[str]:
    """Return the modules that a shard loads by name: its policy, environments, protocol and fast paths."""
    modules = {PolicyModule(cells[0].policy).dotted, ProtocolModule(cells[0].protocol).dotted}
    modules |= {EnvironmentModule(cell.environment).dotted for cell in cells}
    fast_paths = {PolicyModule(cell.policy).fast_path(cell.environment) for cell in cells}
    return sorted(modules | {path for path in fast_paths if path is not None})


def digests_of_named_files(cells: Iterable[Cell]) -> list[str]:
    """Return the SHA-256 of each file that a parameter of an extension's policy or environment names.

    The path is relative to the working directory or to the folder of the module.
    """
    named: set[Path] = set()
    for cell in cells:
        policy = PolicyModule(cell.policy), cell.policy_parameters
        environment = EnvironmentModule(cell.environment), cell.environment_parameters
        for module, parameters in (policy, environment):
            texts = [v for v in parameters.values() if isinstance(v, str)] if module.in_extension else []
            named |= {place for text in texts for place in (Path(text), module.file.parent / text) if place.is_file()}
    return [sha256(file) for file in sorted(named)]
