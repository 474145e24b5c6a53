"""Write a paper's tables as CSV, Markdown and LaTeX."""

import importlib
from pathlib import Path

from privarms.artifacts.results import Results
from privarms.artifacts.tables import write_table
from privarms.job import job

with job(snakemake):
    paper = snakemake.params.paper
    tables = importlib.import_module(f"privarms.artifacts.{paper}.tables").TABLES
    results = Results(snakemake.params.folder, paper, snakemake.params.prepared)
    for name in snakemake.params.artifacts:
        write_table(tables[name](results), Path(snakemake.params.folder) / "tables" / paper / name)
