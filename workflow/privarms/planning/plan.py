"""The plan of a run: its simulations, their data, and its outputs.

The Snakefile gets inputs and parameters from it. It imports policies and environments and compiles nothing.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from privarms.errors import PrivarmsError, check_known
from privarms.planning import additions, auditing, cells, configuration, defaults, paths
from privarms.planning.datasets import Datasets
from privarms.planning.jobs import Jobs
from privarms.planning.outputs import Outputs
from privarms.planning.simulation import Simulation
from privarms.registry import artifacts

# Trials of an automatic audit, if the configuration does not set them.
AUDIT_TRIALS = 10_000
# Target names that a paper cannot have.
TARGETS = ("all", "figures", "tables", "ledger", "audit")


class Plan(NamedTuple):
    """The parts of a plan; made by `start.make_plan`."""

    scale: str
    datasets: Datasets
    simulation: Simulation
    outputs: Outputs
    jobs: Jobs


def papers(config: Mapping) -> dict[str, dict]:
    """Return the papers of config/papers by year, then of extensions, with added policies and automatic audits."""
    own, *others = [sorted(Path(folder).glob("*/studies.yaml")) for folder in paths.folders(config)]
    if not own:
        raise PrivarmsError(f"config/config.yaml: papers: no */studies.yaml in the folder {config['papers']!r}")
    contents = {file: configuration.load_paper(file, config["scale"]) for file in own}
    contents = dict(sorted(contents.items(), key=lambda one: one[1]["year"]))
    for file in (file for files in others for file in files):
        contents[file] = configuration.load_paper(file, config["scale"], extension=True)
    files: dict[str, Path] = {}
    for file, content in list(contents.items()):
        paper = content["paper"]
        if paper in (*TARGETS, *files):
            taken = files.get(paper, "a Snakemake target")
            raise PrivarmsError(
                f"{file}: the name of the folder is already used by {taken}; rename the folder. Add "
                "policies to a published study with `add`"
            )
        files[paper] = file
        contents[file] = _with_artifacts(file, content, extension=file not in own)
    added = additions.add({content["paper"]: content for content in contents.values()}, config)
    return auditing.completed(added, config.get("audit_trials", AUDIT_TRIALS))


def _with_artifacts(file: Path, content: Mapping, extension: bool) -> dict:
    """Return a paper's content with what its package registers: inference tables, and artifacts.

    The artifacts are those that the file lists, or all.
    """
    registered = artifacts.of_paper(content["paper"])
    content = {**content, "inference": artifacts.inference_of_paper(content["paper"])}
    if extension and not registered:
        return defaults.completed(content)
    for name in content.get("artifacts", ()):
        check_known(f"{file}: artifacts", "artifact", name, registered)
    chosen = content.get("artifacts", registered)
    return {**content, "artifacts": {name: entry for name, entry in registered.items() if name in chosen}}


def datasets(of_papers: Mapping[str, Mapping]) -> list[str]:
    """Return the datasets that the papers' studies, artifacts and inference tables name."""
    named = set()
    for content in of_papers.values():
        for study in content["studies"].values():
            named |= cells.datasets(study)
        named |= {a.dataset for a in content["artifacts"].values() if a.dataset}
        named |= {dataset for table in content["inference"].values() for dataset in table.datasets}
    return sorted(named)
