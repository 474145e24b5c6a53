"""Where everything lies: the one module that spells paths. All are relative to the working directory.

Every function takes wildcards as well as names: `study("quick", "{paper}", "{study}")` is a rule's pattern.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from privarms.studies import extensions, library

PROJECT = Path(__file__).resolve().parents[3]
FIGURE_FORMATS = ("pdf", "png", "svg", "csv")
TABLE_FORMATS = ("csv", "md", "tex")
# Of a table that is laid out for reading.
SHEET_FORMATS = (*TABLE_FORMATS, "png")


def beside(file: Path | str) -> str:
    """A file of the project itself; relative where it lies below the working directory."""
    return _from_here([str(PROJECT / file)])[0]


def library_files(script: str, *modules: str) -> list[str]:
    """The library files that a script and the modules that it loads by name (dotted) use, as inputs of its rule."""
    return _from_here(library.sources(*modules, script=script))


def _from_here(files: Sequence[str]) -> list[str]:
    """Full paths, relative where they lie below the working directory, which is asked for once."""
    here = os.getcwd() + os.sep
    return [file.removeprefix(here) for file in files]


def located(place: str) -> str:
    """A file or folder that the configuration names: in the working directory, or else in the project."""
    return place if os.path.exists(place) or not (PROJECT / place).exists() else str(PROJECT / place)


def folders(config: Mapping) -> list[str]:
    """Return the folders in which papers have a folder each, the project's first."""
    others = [place / "papers" for place in extensions.folders() if (place / "papers").is_dir()]
    return [located(config["papers"]), *map(extensions.shown, others)]


def folder(config: Mapping, paper: str) -> str:
    """Return the folder of a paper's configuration."""
    places = [f"{place}/{paper}" for place in folders(config)]
    return next((place for place in places if os.path.isdir(place)), places[0])


# Functions of the names in the order of the braces: scale, paper and what the file is about.
results = "results/{}".format
# What one simulation job writes; a row per replicate; a row per cell of a study; an inference table.
shard = "results/{}/shards/{}/{}.parquet".format
study = "results/{}/studies/{}/{}.parquet".format
cells = "results/{}/studies/{}/{}_cells.parquet".format
inference = "results/{}/inference/{}/{}.parquet".format
# A paper's part of the ledger; the ledger; what is known of each statement; the report.
claims = "results/{}/claims/{}.csv".format
ledger = "results/{}/ledger.csv".format
statements = "results/{}/statements.csv".format
report = "results/{}/report.html".format
# All papers' privacy audits, and the picture of them with its numbers, by the ending.
audit = "results/{}/audit.csv".format
audit_picture = "results/{}/audit_losses.{}".format
# The folder of the jobs' logs; the ledger that the last run replaced.
logs = "logs/{}".format
previous_ledger = "logs/{}/previous_ledger.csv".format
# A raw file of a dataset, folder/name.
raw = "data/raw/{}".format


def artifact(scale: str, kind: str, paper: str, file: str, extension: str) -> str:
    """A file of a figure or table; kind: figure or table."""
    return f"results/{scale}/{kind}s/{paper}/{file}.{extension}"


def prepared(dataset: str, extension: str, stand_in: bool = False) -> str:
    """A prepared dataset (parquet), or what is known about it (json)."""
    return f"data/prepared/{dataset}{'_standin' if stand_in else ''}.{extension}"


def published(folder: str) -> list[str]:
    """Return the files with what a paper prints, of its folder: its numbers and its tables, as far as it has them."""
    return [
        str(file) for pattern in ("numbers.yaml", "*.csv") for file in sorted(Path(folder, "published").glob(pattern))
    ]


def log(scale: str, stage: str, *names: str) -> str:
    """The log of a stage's job."""
    return "/".join((logs(scale), stage, *names)) + ".log"


def benchmark(scale: str, stage: str, *names: str) -> str:
    """The time and memory of a stage's job, next to its log."""
    return "/".join((logs(scale), stage, *names)) + ".tsv"


def named(path: str | Path) -> str:
    """The study, inference table or dataset that a file is about."""
    return Path(path).stem.removesuffix("_cells").removesuffix("_standin")
