"""The start of a run: validate the configuration, find the data, and report what is missing."""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence

from privarms.data import sources
from privarms.errors import PrivarmsError, check_known
from privarms.files import revision
from privarms.files.model import checked
from privarms.planning import paths, surroundings
from privarms.planning import plan as planning
from privarms.planning.configuration import Configuration
from privarms.planning.datasets import Datasets
from privarms.planning.jobs import Jobs
from privarms.planning.outputs import Outputs
from privarms.planning.plan import Plan
from privarms.planning.simulation import Simulation
from privarms.registry import digests, extensions, library

# Only the main process searches for the data. Its jobs read the result, so all of them make the same plan.
STATUSES_VARIABLE = "PRIVARMS_DATASETS"


def make_plan(config: Mapping, main: bool) -> Plan:
    """Return the plan for a configuration; main: whether the user started this process.

    Raises PrivarmsError for every fault in config, studies, statements and sources.
    """
    run = checked(Configuration, config, "config/config.yaml, --configfile or --config")
    extensions.extend(run.extensions)
    run = run.model_copy(update={key: paths.located(config[key]) for key in ("papers", "sources")})
    if main:
        digests.record()
    of_papers = planning.papers(run)
    of_sources = sources.load_sources(run.sources, sources.choose_mirror(run.mirror))
    for folder in extensions.folders():
        own = sources.beside(folder / "data/sources.yaml")
        for name in own.keys() & of_sources.keys():
            raise PrivarmsError(f"{folder}/data/sources.yaml: {name}: a dataset of this name exists; rename it")
        of_sources |= own
    needed = planning.datasets(of_papers)
    for dataset in needed:
        check_known(run.sources, "dataset", dataset, of_sources)
        place = f"{run.sources}: {dataset}: workflow/privarms/data"
        check_known(place, "module", of_sources[dataset].module, library.names("data"))
    if main or STATUSES_VARIABLE not in os.environ:
        os.environ[STATUSES_VARIABLE] = json.dumps(look_for(needed, run, of_sources))
    datasets = Datasets(of_sources, json.loads(os.environ[STATUSES_VARIABLE]), run.scale)
    simulation = Simulation(run, of_papers, datasets)
    outputs = Outputs(run, simulation)
    plan = Plan(run.scale, datasets, simulation, outputs, Jobs(run, outputs))
    if main:
        announce(plan, sys.argv)
        if reason := revision.why_unknown():
            print(f"revision: unknown to this run and in its files, because git fails: {reason}", file=sys.stderr)
        for line in surroundings.other_versions():
            print(line, file=sys.stderr)
    return plan


def look_for(needed: list[str], config: Configuration, of_sources: Mapping[str, sources.Dataset]) -> dict[str, str]:
    """Return dataset -> "real" if obtainable, else "stand-in" or "missing".

    A user's own data have no stand-in, and scale paper uses none. Scale tiny uses all of them and downloads nothing.
    """
    mirror = sources.choose_mirror(config.mirror)
    has_stand_in = {d for d in needed if config.scale != "paper" and of_sources[d].table is None}
    asked = [of_sources[d] for d in needed if config.scale != "tiny" or d not in has_stand_in]
    obtainable = sources.obtainable(asked, mirror=mirror)
    return {d: "real" if d in obtainable else "stand-in" if d in has_stand_in else "missing" for d in needed}


def announce(plan: Plan, arguments: Sequence[str] = (), ended: bool = False) -> None:
    """Print on stderr which data are not real, and at the end of a run what a user should know about the real ones.

    arguments: of the command, whose targets may be single papers or prepared datasets
    """
    used = _used(plan, arguments)
    words = {"stand-in": "a synthetic stand-in is used", "missing": "left out"}
    # Variants of a dataset lack the same files, so one message is enough.
    alike: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for dataset, status in plan.datasets.statuses.items():
        if status in words and dataset in used:
            alike.setdefault((tuple(plan.datasets.raw_files(dataset)), status), []).append(dataset)
    for (_, status), datasets in alike.items():
        message = plan.datasets.missing_message(datasets[0])
        print(f"{', '.join(datasets)}: {words[status]}. {message}", file=sys.stderr)
    for line in plan.datasets.remarks(used) if ended else ():
        print(line, file=sys.stderr)


def _used(plan: Plan, arguments: Sequence[str]) -> list[str]:
    """Return the datasets of the targets in a command's arguments: of the papers that they name, or of all papers."""
    of_papers = plan.simulation.papers
    targets = [word for word in arguments if word.startswith("results/")]
    asked = of_papers.keys() & {part for word in targets for part in re.split("[/.]", word)}
    asked |= {paper for paper in of_papers for word in arguments if word == paper or word.startswith(f"{paper}_")}
    prepared = [d for d in plan.datasets.sources if {paths.prepared(d, e) for e in ("parquet", "json")} & {*arguments}]
    if prepared and not asked:
        return prepared
    return planning.datasets({paper: of_papers[paper] for paper in asked or of_papers})
