"""All paths of a run, relative to the working directory; no other module spells them.

Every function accepts wildcards as well as names: `study("quick", "{paper}", "{study}")` is a rule's pattern.
"""

import os
from pathlib import Path

from privarms.files.revision import PROJECT
from privarms.registry import extensions

FIGURE_FORMATS = ("pdf", "png", "svg", "csv")
TABLE_FORMATS = ("csv", "md", "tex")
# Formats of a table that is laid out for reading.
SHEET_FORMATS = (*TABLE_FORMATS, "png")


def located(place: str) -> str:
    """Return a file or folder that the configuration names: in the working directory, or else in the project."""
    return place if os.path.exists(place) or not (PROJECT / place).exists() else str(PROJECT / place)


def folders(papers: str) -> list[str]:
    """Return the folders with one folder per paper: `papers`, which is the project's, and those of extensions."""
    others = [place / "papers" for place in extensions.folders() if (place / "papers").is_dir()]
    return [located(papers), *map(extensions.shown, others)]


def folder(papers: str, paper: str) -> str:
    """Return the folder of a paper."""
    places = [f"{place}/{paper}" for place in folders(papers)]
    return next((place for place in places if os.path.isdir(place)), places[0])


# Functions of the names in the order of the braces: scale, paper and the name of the object.
results = "results/{}".format
# The output of one simulation job; one row per replicate; one row per cell of a study; an inference table.
shard = "results/{}/shards/{}/{}.parquet".format
study = "results/{}/studies/{}/{}.parquet".format
cells = "results/{}/studies/{}/{}_cells.parquet".format
inference = "results/{}/inference/{}/{}.parquet".format
# A paper's part of the ledger; the ledger; the outcome of each statement; the report.
cases = "results/{}/cases/{}.csv".format
ledger = "results/{}/ledger.csv".format
statements = "results/{}/statements.csv".format
report = "results/{}/report.html".format
# All papers' privacy audits; those of one policy; their picture and its numbers, by file suffix.
audit = "results/{}/audit.csv".format
audit_of = "results/{}/audits/{}.csv".format
audit_picture = "results/{}/audit_losses.{}".format
# The folder of the jobs' logs; the ledger that the last run replaced.
logs = "logs/{}".format
previous_ledger = "logs/{}/previous_ledger.csv".format
# A raw file of a dataset, folder/name.
raw = "data/raw/{}".format


def artifact(scale: str, kind: str, paper: str, file: str, extension: str) -> str:
    """Return a file of a figure or table; kind: figure or table."""
    return f"results/{scale}/{kind}s/{paper}/{file}.{extension}"


def prepared(dataset: str, extension: str, stand_in: bool = False, scale: str = "quick") -> str:
    """Return the path of a prepared dataset (parquet), or of the facts about it (json); scale: of the stand-in."""
    folder = "data/prepared/tiny" if stand_in and scale == "tiny" else "data/prepared"
    return f"{folder}/{dataset}{'_standin' if stand_in else ''}.{extension}"


def published(folder: str) -> list[str]:
    """Return the files with a paper's published numbers and tables in its folder, as far as they exist."""
    return [
        str(file) for pattern in ("numbers.yaml", "*.csv") for file in sorted(Path(folder, "published").glob(pattern))
    ]


def log(scale: str, stage: str, *names: str) -> str:
    return "/".join((logs(scale), stage, *names)) + ".log"


def benchmark(scale: str, stage: str, *names: str) -> str:
    """Return the file with time and memory of a stage's job, next to its log."""
    return "/".join((logs(scale), stage, *names)) + ".tsv"


def named(path: str | Path) -> str:
    """Return the study, inference table or dataset that a file is about."""
    return Path(path).stem.removesuffix("_cells").removesuffix("_standin")
