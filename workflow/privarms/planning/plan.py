"""The plan of a run: its simulations, their data, and its outputs.

The Snakefile gets inputs and parameters from it. It imports policies and environments and compiles nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from privarms.errors import PrivarmsError, check_known
from privarms.planning import additions, auditing, configuration, defaults, paths
from privarms.planning.configuration import Configuration
from privarms.planning.datasets import Datasets
from privarms.planning.jobs import Jobs
from privarms.planning.outputs import Outputs
from privarms.planning.simulation import Simulation
from privarms.planning.studies import Paper
from privarms.registry import artifacts

# Target names that a paper cannot have.
TARGETS = ("all", "figures", "tables", "ledger", "audit")


class Plan(NamedTuple):
    """The parts of a plan; made by `start.make_plan`."""

    scale: str
    datasets: Datasets
    simulation: Simulation
    outputs: Outputs
    jobs: Jobs


def papers(config: Configuration) -> dict[str, Paper]:
    """Return the papers of config/papers by year, then of extensions, with added policies and automatic audits."""
    own, *others = [sorted(Path(folder).glob("*/studies.yaml")) for folder in paths.folders(config.papers)]
    if not own:
        raise PrivarmsError(f"config/config.yaml: papers: no */studies.yaml in the folder {config.papers!r}")
    loaded = {file: configuration.load_paper(file, config.scale) for file in own}
    loaded = dict(sorted(loaded.items(), key=lambda one: one[1].about.year or 0))
    for file in (file for files in others for file in files):
        loaded[file] = configuration.load_paper(file, config.scale, extension=True)
    files: dict[str, Path] = {}
    for file, paper in list(loaded.items()):
        if paper.name in (*TARGETS, *files):
            taken = files.get(paper.name, "a Snakemake target")
            raise PrivarmsError(
                f"{file}: the name of the folder is already used by {taken}; rename the folder. Add "
                "policies to a published study with `add`"
            )
        files[paper.name] = file
        loaded[file] = _with_artifacts(file, paper, extension=file not in own)
    added = additions.add({paper.name: paper for paper in loaded.values()}, config)
    return auditing.completed(added, config.audit_trials)


def _with_artifacts(file: Path, paper: Paper, extension: bool) -> Paper:
    """Return a paper with what its package registers: inference tables, and artifacts.

    The artifacts are those that the file lists, or all.
    """
    registered = artifacts.of_paper(paper.name)
    paper = replace(paper, inference=artifacts.inference_of_paper(paper.name))
    if extension and not registered:
        return defaults.completed(paper)
    listed = paper.about.artifacts
    for name in listed or ():
        check_known(f"{file}: artifacts", "artifact", name, registered)
    chosen = registered if listed is None else listed
    return replace(paper, artifacts={name: entry for name, entry in registered.items() if name in chosen})


def datasets(of_papers: Mapping[str, Paper]) -> list[str]:
    """Return the datasets that the papers' studies, artifacts and inference tables name."""
    named = set()
    for paper in of_papers.values():
        for study in paper.studies.values():
            named |= study.datasets
        named |= {a.dataset for a in paper.artifacts.values() if a.dataset}
        named |= {dataset for table in paper.inference.values() for dataset in table.datasets}
    return sorted(named)
