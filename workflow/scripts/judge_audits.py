"""Write the verdicts on the privacy audits of one policy."""

from privarms.audits import verdicts
from privarms.files import parquet
from privarms.files.whole import whole
from privarms.jit import cache
from privarms.plots.tables import write_csv
from privarms.registry import library
from privarms.runner.job import job

with job(snakemake):
    cache.use(library.imported_texts)
    named = zip(snakemake.params.named, snakemake.input.studies, strict=True)
    counts = ((*name, parquet.read(file).to_pandas()) for name, file in named)
    policy = snakemake.wildcards.policy
    rows = verdicts.table(((*name, some[some["policy"] == policy]) for *name, some in counts), snakemake.params.claims)
    with whole(snakemake.output[0]) as file:
        write_csv(rows, file)
