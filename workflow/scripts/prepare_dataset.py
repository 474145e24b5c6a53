"""Prepare a dataset as a bandit; without raw files, prepare its synthetic stand-in."""

from privarms.data.preparation import prepare
from privarms.data.sources import load_sources
from privarms.job import job

with job(snakemake):
    dataset = load_sources(snakemake.params.sources)[snakemake.wildcards.dataset]
    prepare(dataset, snakemake.input.get("raw"), snakemake.output.table, snakemake.output.facts)
