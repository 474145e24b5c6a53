"""The start of a run: validate the configuration, see which data are there, say what is missing."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from privarms.data import sources
from privarms.errors import PrivarmsError, StudyError
from privarms.files import settings
from privarms.studies import extensions, library, paths
from privarms.studies import plan as planning
from privarms.studies.plan import Plan

# The main process looks for the data once and tells its jobs, so that all of them plan the same run.
STATUSES_VARIABLE = "PRIVARMS_DATASETS"
CONFIGFILES_VARIABLE = "PRIVARMS_CONFIGFILES"


def configfiles_before_the_last(arguments: Sequence[str] | None) -> list[str]:
    """The files behind all `--configfile` of a command line but the last; None in a job, which is told of them."""
    if arguments is None:
        return json.loads(os.environ.get(CONFIGFILES_VARIABLE, "[]"))
    given: list[list[str]] = []
    inside = False
    for argument in arguments[1:]:
        option, equals, value = argument.partition("=")
        if argument.startswith("-"):
            inside = option in ("--configfile", "--configfiles")
            if inside:
                given.append([value] if equals else [])
        elif inside:
            given[-1].append(argument)
    # Snakemake has gone to its --directory by now; the shell says where the line was typed.
    here, typed = os.getcwd(), os.environ.get("PWD", "")
    found = [os.path.join(here, file) for files in given[:-1] for file in files]
    found = [f if os.path.exists(f) else os.path.join(typed, os.path.relpath(f, here)) for f in found]
    os.environ[CONFIGFILES_VARIABLE] = json.dumps(found)
    return found


def make_plan(config: Mapping, main: bool) -> Plan:
    """The plan for a configuration; `main` says whether this is the process that the user started.

    Raises PrivarmsError for every fault in config, studies, claims and sources.
    """
    where = "config/config.yaml, --configfile or --config"
    if main:
        os.environ.pop(settings.VALIDATED_VARIABLE, None)
    settings.validate(config, "config", where)
    extensions.extend(config.get("extensions", []))
    config = {**config, **{key: paths.found(config[key]) for key in ("studies", "claims", "published", "sources")}}
    of_papers = planning.papers(config)
    of_sources = sources.load_sources(config["sources"])
    needed = planning.datasets(of_papers)
    for dataset in needed:
        if dataset not in of_sources:
            raise PrivarmsError(f"{config['sources']}: {dataset}: no entry, but a study needs this dataset; add one")
        module = of_sources[dataset].module
        if module is not None and module not in library.names("data"):
            raise PrivarmsError(f"workflow/privarms/data/{module}.py: not there, but a study needs {dataset}")
    told = os.environ.get(STATUSES_VARIABLE)
    if main:
        refuse_unwritable(Path(paths.results(config["scale"])))
    if main or told is None:
        statuses = look_for(needed, config, of_sources)
        os.environ[STATUSES_VARIABLE] = json.dumps(statuses)
    else:
        statuses = json.loads(told)
    try:
        plan = planning.make(config, of_papers, of_sources, statuses)
    except StudyError as error:
        raise PrivarmsError(error.in_folder(*paths.folders(config, "studies"))) from error
    if main:
        announce(plan)
        os.environ[settings.VALIDATED_VARIABLE] = "1"
    return plan


def refuse_unwritable(folder: Path) -> None:
    """Check, before anything runs, that results can be written. Raises PrivarmsError."""
    place = folder
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise PrivarmsError(f"{place}: not a folder that can be written, so {folder} cannot be filled; make it one")


def look_for(needed: list[str], config: Mapping, of_sources: Mapping[str, sources.Dataset]) -> dict[str, str]:
    """Return for each dataset "real" where its raw files can be obtained, else "stand-in" at scale quick and "missing"
    at scale paper. There is no stand-in for a user's own data: without its file it is missing at either scale."""
    mirror = sources.choose_mirror(config.get("mirror"))
    obtainable = sources.obtainable([of_sources[d] for d in needed], mirror=mirror)

    def otherwise(dataset: str) -> str:
        return "stand-in" if config["scale"] == "quick" and of_sources[dataset].module else "missing"

    return {d: "real" if d in obtainable else otherwise(d) for d in needed}


def announce(plan: Plan) -> None:
    """Say on stderr which data are not real and which claims have no paper in this run."""
    words = {"stand-in": "a synthetic stand-in is used", "missing": "left out"}
    # Variants of a dataset lack the same files.
    alike: dict[tuple[str, str], list[str]] = {}
    for dataset, status in plan.datasets.statuses.items():
        if status in words:
            alike.setdefault((plan.datasets.sources[dataset].folder, status), []).append(dataset)
    for (_, status), datasets in alike.items():
        message = plan.datasets.missing_message(datasets[0])
        print(f"{', '.join(datasets)}: {words[status]}. {message}", file=sys.stderr)
    for file in plan.outputs.left_out:
        print(f"{file}: left out: no study file of this run is called {file.name}", file=sys.stderr)
