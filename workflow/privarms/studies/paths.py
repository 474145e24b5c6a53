"""Where everything lies: the one module that spells paths. All are relative to the working directory.

Every function takes wildcards as well as names: `study("quick", "{paper}", "{study}")` is a rule's pattern.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from privarms.errors import PrivarmsError, StudyError
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


def in_file(error: PrivarmsError, config: Mapping) -> str:
    """Return the message of an error, a fault of a study with the whole name of its file."""
    return f"{Path(folder(config, error.paper)).parent}/{error}" if isinstance(error, StudyError) else str(error)


def results(scale: str) -> str:
    """The folder of a scale's results."""
    return f"results/{scale}"


def shard(scale: str, paper: str, name: str) -> str:
    """What one simulation job writes."""
    return f"results/{scale}/shards/{paper}/{name}.parquet"


def study(scale: str, paper: str, name: str) -> str:
    """A row per replicate."""
    return f"results/{scale}/studies/{paper}/{name}.parquet"


def cells(scale: str, paper: str, name: str) -> str:
    """A row per cell of a study."""
    return f"results/{scale}/studies/{paper}/{name}_cells.parquet"


def inference(scale: str, paper: str, table: str) -> str:
    """An inference table."""
    return f"results/{scale}/inference/{paper}/{table}.parquet"


def artifact(scale: str, kind: str, paper: str, file: str, extension: str) -> str:
    """A file of a figure or table; kind: figure or table."""
    return f"results/{scale}/{kind}s/{paper}/{file}.{extension}"


def claims(scale: str, paper: str) -> str:
    """A paper's part of the ledger."""
    return f"results/{scale}/claims/{paper}.csv"


def audit(scale: str) -> str:
    """All papers' privacy audits."""
    return f"results/{scale}/audit.csv"


def audit_picture(scale: str, extension: str) -> str:
    """What they show, a line a mechanism or policy; the csv: the numbers drawn."""
    return f"results/{scale}/audit_losses.{extension}"


def ledger(scale: str) -> str:
    """The ledger."""
    return f"results/{scale}/ledger.csv"


def previous_ledger(scale: str) -> str:
    """The ledger that the last run replaced."""
    return f"logs/{scale}/previous_ledger.csv"


def statements(scale: str) -> str:
    """What is known of each statement, from the verdicts on the claims about it."""
    return f"results/{scale}/statements.csv"


def report(scale: str) -> str:
    """The report."""
    return f"results/{scale}/report.html"


def raw(file: str) -> str:
    """A raw file of a dataset, <folder>/<name>."""
    return f"data/raw/{file}"


def prepared(dataset: str, extension: str, stand_in: bool = False) -> str:
    """A prepared dataset (parquet), or what is known about it (json)."""
    return f"data/prepared/{dataset}{'_standin' if stand_in else ''}.{extension}"


def published(folder: str) -> list[str]:
    """Return the files with what a paper prints, of its folder: its numbers and its tables, as far as it has them."""
    return [
        str(file) for pattern in ("numbers.yaml", "*.csv") for file in sorted(Path(folder, "published").glob(pattern))
    ]


def logs(scale: str) -> str:
    """The folder of the jobs' logs."""
    return f"logs/{scale}"


def log(scale: str, stage: str, *names: str) -> str:
    """The log of a stage's job."""
    return "/".join((logs(scale), stage, *names)) + ".log"


def benchmark(scale: str, stage: str, *names: str) -> str:
    """The time and memory of a stage's job, next to its log."""
    return "/".join((logs(scale), stage, *names)) + ".tsv"


def named(path: str | Path) -> str:
    """The study, inference table or dataset that a file is about."""
    return Path(path).stem.removesuffix("_cells").removesuffix("_standin")
