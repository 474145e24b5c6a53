"""Join a study's shards into the rows of all replicates and a summary per cell."""

from privarms.execution.aggregate import aggregate
from privarms.execution.cell import Cell
from privarms.runner.job import job

with job(snakemake):
    aggregate(
        snakemake.input.shards,
        [Cell(**c) for c in snakemake.params.cells],
        snakemake.params.statuses,
        {**dict(snakemake.wildcards.items()), "scale": snakemake.params.scale, "seed": snakemake.params.seed},
        snakemake.output.study,
        snakemake.output.cells,
    )
