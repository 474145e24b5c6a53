"""Studies at the published horizons, with few replicates: what decides most claims, in minutes and not in an hour."""

import math
from pathlib import Path

from privarms.studies import cells, configuration

# Of simulation on one core, that a study is cut down to, unless it has only the least replicates by then. Below the
# least, Student's quantile grows so fast that hardly anything would be decided.
SECONDS = 10.0
LEAST = 4


def reduced(file: Path, seconds: float = SECONDS, least: int = LEAST) -> dict:
    """The studies of config/studies/{paper}.yaml at scale paper, all cells and horizons, each with the same share of
    all its replicates."""
    paper = configuration.load_paper(file, "paper")
    return paper | {
        "studies": {
            name: fewer(study, min(1.0, seconds / max(cost(file, paper["paper"], name, study), 1e-9)), least)
            for name, study in paper["studies"].items()
        }
    }


def cost(file: Path, paper: str, name: str, study: dict) -> float:
    """Estimated seconds of all runs of a study on one core."""
    return sum(cell.seconds * cell.replicates for cell in cells.expand(str(file), paper, name, study))


def fewer(study: dict, share: float, least: int) -> dict:
    """A study with a share of its replicates, at least so many of those that it has."""

    def cut(entry: dict) -> dict:
        if "replicates" not in entry:
            return entry
        there = entry["replicates"]
        return entry | {"replicates": max(math.ceil(share * there), min(there, least))}

    return cut(study) | {"policies": [cut(policy) for policy in study["policies"]]}
