"""Compute one inference table of a paper."""

import pyarrow as pa

from privarms.files import parquet
from privarms.jit import cache
from privarms.job import job
from privarms.studies import library
from privarms.studies.results import Results

with job(snakemake):
    cache.use(library.sources)
    paper, table = snakemake.wildcards.paper, snakemake.wildcards.table
    read = {kind: snakemake.input[kind] for kind in ("studies", "cells", "published", "audit")}
    compute = library.function(library.paper_module(paper, "inference"), "INFERENCE", table)
    frame = compute(Results(paper, snakemake.params.scale, **read))
    origin = {"paper": paper, **{k: snakemake.params[k] for k in ("scale", "seed", "cells")}, **parquet.origin()}
    parquet.write(snakemake.output[0], [pa.Table.from_pandas(frame, preserve_index=False)], origin)
