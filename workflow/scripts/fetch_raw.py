"""Copy or download one raw file from the mirror or its URL, and verify it."""

from privarms.data import sources
from privarms.runner.job import job

with job(snakemake):
    mirror = sources.choose_mirror(snakemake.config.get("mirror"))
    dataset = sources.load_sources(snakemake.params.sources, mirror)[snakemake.params.dataset]
    file = next(f for f in dataset.files if f.name == snakemake.params.file)
    sources.fetch(dataset, file, mirror=mirror)
