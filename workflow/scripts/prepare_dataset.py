"""Prepare a dataset as a bandit; without raw files, prepare its synthetic stand-in."""

import logging
import sys

from privarms.data.preparation import prepare
from privarms.data.remarks import remarks
from privarms.data.sources import load_sources
from privarms.runner.job import job

with job(snakemake):
    dataset = load_sources(snakemake.params.sources)[snakemake.wildcards.dataset]
    raw, lines = snakemake.input.get("raw"), snakemake.params.lines
    facts = prepare(dataset, raw, snakemake.output.table, snakemake.output.facts, lines)
    for line in remarks(facts):
        logging.getLogger(snakemake.rule).warning("%s: %s", dataset.name, line)
        print(f"{dataset.name}: {line}", file=sys.stderr)
