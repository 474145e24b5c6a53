"""Write a paper's tables as CSV, Markdown and LaTeX, and those that are laid out for reading as a picture too."""

import importlib
from pathlib import Path

from privarms.artifacts.results import Results
from privarms.artifacts.sheet import write_sheet
from privarms.artifacts.tables import write_table
from privarms.job import job

with job(snakemake):
    paper = snakemake.params.paper
    module = importlib.import_module(f"privarms.artifacts.{paper}.tables")
    sheets = getattr(module, "SHEETS", {})
    folder = Path(snakemake.output[0]).parents[2]
    results = Results(folder, paper, snakemake.params.prepared)
    for name, (file, data) in snakemake.params.artifacts.items():
        stem = folder / "tables" / paper / file
        frame = module.TABLES[name](results)
        if name in sheets:
            write_sheet(frame, sheets[name](frame), stem, stand_in=data == "stand-in")
        else:
            write_table(frame, stem, stand_in=data == "stand-in")
