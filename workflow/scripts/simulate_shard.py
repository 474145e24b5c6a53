"""Run the replicates of one shard."""

from privarms.job import job
from privarms.studies import run, store
from privarms.studies.cells import Cell
from privarms.studies.shards import Piece

with job(snakemake):
    pieces = [Piece(Cell(**p["cell"]), p["first"], p["last"]) for p in snakemake.params.pieces]
    seed = snakemake.params.seed
    tables = run.run_shard(pieces, seed, dict(zip(snakemake.params.datasets, snakemake.input.prepared, strict=True)))
    origin = {"seed": seed, "pieces": snakemake.params.pieces, **store.origin()}
    store.write(snakemake.output[0], tables, origin)
