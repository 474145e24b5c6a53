"""Compute one inference table of a paper."""

import pyarrow as pa

from privarms.errors import check_known
from privarms.files import parquet
from privarms.jit import cache
from privarms.planning.results import Results
from privarms.registry import library
from privarms.runner.job import job

with job(snakemake):
    cache.use(library.imported_texts)
    paper, table = snakemake.wildcards.paper, snakemake.wildcards.table
    read = {kind: snakemake.input[kind] for kind in ("studies", "cells", "published", "facts", "audit")}
    functions = library.paper_functions(paper, "inference")
    check_known(f"{paper}: inference", "function of inference.py", table, functions)
    results = Results(paper, snakemake.params.scale, **read)
    frame = functions[table](results)
    results.refuse_overwritten(table, frame)
    origin = {"paper": paper, **{k: snakemake.params[k] for k in ("scale", "seed")}, **parquet.origin()}
    parquet.write(snakemake.output[0], [pa.Table.from_pandas(frame, preserve_index=False)], origin)
