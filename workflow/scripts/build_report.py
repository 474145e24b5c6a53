"""Build the HTML report."""

from pathlib import Path

from privarms.files.revision import revision
from privarms.report.page import build_report
from privarms.runner.job import job

with job(snakemake):
    build_report(
        Path(snakemake.output[0]),
        scale=snakemake.params.scale,
        revision=revision(),
        seed=snakemake.params.seed,
        papers=snakemake.params.papers,
        ledger=Path(snakemake.input.ledger),
        statements=Path(snakemake.input.statements),
        datasets=snakemake.params.datasets,
        options=snakemake.params.options,
        glossary=snakemake.params.glossary,
        audits={key: Path(snakemake.input[f"audit_{key}"]) for key in ("csv", "pdf", "png", "svg", "table")},
    )
