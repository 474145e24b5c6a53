"""Write a paper's tables as CSV, Markdown and LaTeX."""

import importlib
from pathlib import Path

from privarms.artifacts.results import Results
from privarms.artifacts.tables import write_table
from privarms.job import job

with job(snakemake):
    paper = snakemake.params.paper
    tables = importlib.import_module(f"privarms.artifacts.{paper}.tables").TABLES
    folder = Path(snakemake.output[0]).parents[2]
    results = Results(folder, paper, snakemake.params.prepared)
    for name, (file, data) in snakemake.params.artifacts.items():
        stem = folder / "tables" / paper / file
        write_table(tables[name](results), stem, stand_in=data == "stand-in")
