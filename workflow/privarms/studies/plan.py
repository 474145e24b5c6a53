"""The plan of a run: what is simulated, on which data, and what is made of it.

The Snakefile asks it for inputs and parameters. It imports policies and environments and compiles nothing.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from privarms.data import sources
from privarms.errors import PrivarmsError
from privarms.studies import additions, auditing, cells, configuration, defaults, extensions, paths
from privarms.studies.datasets import Datasets
from privarms.studies.outputs import Outputs
from privarms.studies.simulation import Simulation

# Of an audit that a policy gets without asking, where the configuration does not say.
AUDIT_TRIALS = 10_000
# What people type besides names of papers.
TARGETS = ("all", "figures", "tables", "ledger", "audit")


class Plan(NamedTuple):
    """The parts of a plan; made by `make`."""

    scale: str
    datasets: Datasets
    simulation: Simulation
    outputs: Outputs


def make(
    config: Mapping,
    of_papers: Mapping[str, Mapping],
    of_sources: Mapping[str, sources.Dataset],
    statuses: Mapping[str, str],
) -> Plan:
    """The plan of a configuration (config/config.yaml, --configfile and --config, merged).

    of_papers: as `papers` gives them; statuses: dataset -> "real", "stand-in" or "missing"
    Raises PrivarmsError for every fault in studies and claims.
    """
    datasets = Datasets(of_sources, statuses)
    simulation = Simulation(config, of_papers, datasets)
    return Plan(config["scale"], datasets, simulation, Outputs(config, simulation))


def papers(config: Mapping) -> dict[str, dict]:
    """The papers that config/studies describes, by name and in order of year, and those of extensions, at the
    configuration's scale; with the policies that the configuration adds, and audits of those that have none."""
    own, *others = [sorted(Path(folder).glob("*.yaml")) for folder in paths.folders(config, "studies")]
    if not own:
        raise PrivarmsError(f"config/config.yaml: studies: no *.yaml file in the folder {config['studies']!r}")
    contents = {file: configuration.load_paper(file, config["scale"]) for file in own}
    contents = dict(sorted(contents.items(), key=lambda one: one[1]["year"]))
    for file in (file for files in others for file in files):
        contents[file] = defaults.completed(configuration.load_paper(file, config["scale"], extension=True))
    files: dict[str, Path] = {}
    for file in contents:
        if file.stem in (*TARGETS, *files):
            taken = files.get(file.stem, "a target of this name")
            raise PrivarmsError(
                f"{file}: paper: expected another name, because {taken} exists; rename the file, and add policies to a "
                "published study by `add`"
            )
        files[file.stem] = file
    _refuse_strays(files)
    added = additions.add({content["paper"]: content for content in contents.values()}, config)
    return auditing.completed(added, config.get("audit_trials", AUDIT_TRIALS))


def _refuse_strays(papers: Mapping[str, Path]) -> None:
    """PrivarmsError for files of an extension that belong to another's paper, or that would be ignored."""
    for place in extensions.folders():
        for file in (file for room in ("studies", "claims", "published", "papers") for file in place.glob(f"{room}/*")):
            if file.suffix == ".yml":
                raise PrivarmsError(f"{extensions.shown(file)}: expected the ending .yaml; rename it")
            paper = papers.get(file.stem)
            if paper is not None and not paper.resolve().is_relative_to(place):
                raise PrivarmsError(
                    f"{extensions.shown(file)}: {file.stem} is the paper of {paper}, not of this extension; "
                    "expected the name of a study file of its own; rename it, and add policies to others by `add`"
                )


def datasets(of_papers: Mapping[str, Mapping]) -> list[str]:
    """The datasets that the papers' studies and artifacts name."""
    named = set()
    for content in of_papers.values():
        for study in content["studies"].values():
            named |= cells.datasets(study)
        named |= {a["dataset"] for a in content["artifacts"].values() if "dataset" in a}
    return sorted(named)
