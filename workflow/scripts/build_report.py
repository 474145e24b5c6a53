"""Put everything on one page."""

from pathlib import Path

from privarms.job import job
from privarms.report import build_report
from privarms.studies.store import revision

with job(snakemake):
    build_report(
        Path(snakemake.output[0]),
        scale=snakemake.params.scale,
        revision=revision(),
        papers=snakemake.params.papers,
        ledger=Path(snakemake.input.ledger),
        datasets=snakemake.params.datasets,
    )
