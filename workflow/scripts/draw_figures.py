"""Draw a paper's figures, each with the numbers that it shows."""

import importlib
from pathlib import Path

from privarms.artifacts import style
from privarms.artifacts.results import Results
from privarms.data import STAND_IN
from privarms.job import job

with job(snakemake):
    paper = snakemake.params.paper
    figures = importlib.import_module(f"privarms.artifacts.{paper}.figures").FIGURES
    folder = Path(snakemake.output[0]).parents[2]
    results = Results(folder, paper, snakemake.params.prepared)
    style.use_style()
    for name, data in snakemake.params.artifacts.items():
        figure, numbers = figures[name](results)
        if data == "stand-in":
            style.watermark(figure)
            # Figures of several datasets say it row by row.
            numbers = numbers if "data" in numbers else numbers.assign(data=STAND_IN)
        style.save(figure, numbers, folder / "figures" / paper / name)
