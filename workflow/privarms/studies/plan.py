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
    first, *others = [sorted(Path(folder).glob("*.yaml")) for folder in paths.folders(config, "studies")]
    if not first:
        raise PrivarmsError(f"config/config.yaml: studies: no *.yaml file in the folder {config['studies']!r}")
    found = [(file, configuration.load_paper(file, config["scale"])) for file in first]
    found.sort(key=lambda one: one[1]["year"])
    for file in (file for files in others for file in files):
        found.append((file, defaults.completed(configuration.load_paper(file, config["scale"], extension=True))))
    files: dict[str, Path] = {}
    for file, content in found:
        if content["paper"] in TARGETS:
            raise PrivarmsError(f"{file}: paper: {content['paper']!r} is what a target is called; rename the file")
        if content["paper"] in files:
            raise PrivarmsError(
                f"{file}: paper: expected a name that no other paper has; {files[content['paper']]} has "
                f"{content['paper']!r}; rename the file, and add policies to a published study by `add`"
            )
        files[content["paper"]] = file
    _refuse_strays(files)
    added = additions.add({content["paper"]: content for _, content in found}, config)
    return auditing.completed(added, config.get("audit_trials", AUDIT_TRIALS))


def _refuse_strays(papers: Mapping[str, Path]) -> None:
    """PrivarmsError for files of an extension that would stand in for another's, or that nobody reads."""
    for place in extensions.folders():
        found = [f for room in ("studies", "claims", "published") for f in sorted((place / room).glob("*.y*ml"))]
        for file in found:
            if file.suffix != ".yaml":
                raise PrivarmsError(f"{extensions.shown(file)}: expected the ending .yaml; rename it")
        found += [f for room in ("published", "papers") for f in sorted((place / room).glob("*/"))]
        for file in found:
            of = papers.get(file.stem)
            if of is not None and not of.resolve().is_relative_to(place):
                raise PrivarmsError(
                    f"{extensions.shown(file)}: {file.stem} is the paper of {of}, which an extension leaves as it is: "
                    "expected the name of a study file of its own; rename it, and add policies to others by `add`"
                )


def datasets(of_papers: Mapping[str, Mapping]) -> list[str]:
    """The datasets that the papers' studies and artifacts name."""
    found = set()
    for content in of_papers.values():
        for study in content["studies"].values():
            found |= cells.datasets(study)
        found |= {a["dataset"] for a in content["artifacts"].values() if "dataset" in a}
    return sorted(found)
