"""Bring a dataset to bandit form; without its raw files, a synthetic stand-in."""

from privarms.data.prepared import prepare
from privarms.job import job

with job(snakemake):
    prepare(
        snakemake.wildcards.dataset,
        snakemake.input.get("raw"),
        snakemake.output.table,
        snakemake.output.facts,
    )
