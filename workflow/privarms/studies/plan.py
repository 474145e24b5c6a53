"""The plan of a run: what is simulated, on which data, and what is made of it.

The Snakefile asks it for inputs and parameters. It imports policies and environments and compiles nothing.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from privarms.errors import PrivarmsError, check_known
from privarms.studies import additions, artifacts, auditing, cells, configuration, defaults, paths
from privarms.studies.datasets import Datasets
from privarms.studies.outputs import Outputs
from privarms.studies.simulation import Simulation

# Of an audit that a policy gets without asking, where the configuration does not say.
AUDIT_TRIALS = 10_000
# What people type besides names of papers.
TARGETS = ("all", "figures", "tables", "ledger", "audit")


class Plan(NamedTuple):
    """The parts of a plan; made by `start.make_plan`."""

    scale: str
    datasets: Datasets
    simulation: Simulation
    outputs: Outputs


def papers(config: Mapping) -> dict[str, dict]:
    """The papers that config/papers describes, by name and in order of year, and those of extensions, at the
    configuration's scale; with the policies that the configuration adds, and audits of those that have none."""
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
            taken = files.get(paper, "a target of this name")
            raise PrivarmsError(
                f"{file}: expected another name of the folder, because {taken} exists; rename the folder, and add "
                "policies to a published study by `add`"
            )
        files[paper] = file
        contents[file] = _with_artifacts(file, content, extension=file not in own)
    added = additions.add({content["paper"]: content for content in contents.values()}, config)
    return auditing.completed(added, config.get("audit_trials", AUDIT_TRIALS))


def _with_artifacts(file: Path, content: Mapping, extension: bool) -> dict:
    """Return a paper's content with the artifacts that its package registers: those that the file lists, or all."""
    registered = artifacts.of_paper(content["paper"])
    if extension and not registered:
        return defaults.completed(content)
    for name in content.get("artifacts", ()):
        check_known(f"{file}: artifacts", "artifact", name, registered)
    chosen = content.get("artifacts", registered)
    return {**content, "artifacts": {name: entry for name, entry in registered.items() if name in chosen}}


def datasets(of_papers: Mapping[str, Mapping]) -> list[str]:
    """The datasets that the papers' studies and artifacts name."""
    named = set()
    for content in of_papers.values():
        for study in content["studies"].values():
            named |= cells.datasets(study)
        named |= {a["dataset"] for a in content["artifacts"].values() if "dataset" in a}
    return sorted(named)
