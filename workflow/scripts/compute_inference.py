"""Compute one inference table of a paper."""

import pyarrow as pa

from privarms.files import parquet
from privarms.jit import cache
from privarms.planning.results import Results
from privarms.registry import artifacts, library
from privarms.runner.job import job

with job(snakemake):
    cache.use(library.imported_texts)
    paper, table = snakemake.wildcards.paper, snakemake.wildcards.table
    read = {kind: snakemake.input[kind] for kind in ("studies", "cells", "published", "facts", "audit")}
    results = Results(paper, snakemake.params.scale, **read, tags=snakemake.params.tags)
    frame = artifacts.make(snakemake.params.made_by, results)
    results.refuse_overwritten(table, frame)
    origin = {"paper": paper, **{k: snakemake.params[k] for k in ("scale", "seed")}, **parquet.origin()}
    parquet.write(snakemake.output[0], [pa.Table.from_pandas(frame, preserve_index=False)], origin)
