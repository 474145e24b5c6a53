"""Run the replicates of one shard."""

from privarms.execution import run
from privarms.execution.cell import Cell, Piece
from privarms.files import parquet
from privarms.jit import cache, refcounts
from privarms.registry import library
from privarms.runner.job import job

with job(snakemake):
    refcounts.make_plain()
    cache.use(library.imported_texts)
    prepared = dict(zip(snakemake.params.datasets, snakemake.input.prepared, strict=True))
    seed, pieces = snakemake.params.seed, snakemake.params.pieces
    tables = run.run_shard([Piece(Cell(**p["cell"]), p["first"], p["last"]) for p in pieces], seed, prepared)
    parquet.write(snakemake.output[0], tables, {"seed": seed, "pieces": pieces, **parquet.origin()})
