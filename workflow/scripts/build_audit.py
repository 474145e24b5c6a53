"""Write all privacy audits as one table and one picture."""

from pathlib import Path

from privarms.audits.verdicts import summary, table
from privarms.files import parquet
from privarms.files.whole import whole
from privarms.jit import cache
from privarms.plots import style
from privarms.plots.audits import draw
from privarms.plots.tables import write_csv
from privarms.registry import library
from privarms.runner.job import job

with job(snakemake):
    cache.use(library.imported_texts)
    named = zip(snakemake.params.named, snakemake.input.studies, strict=True)
    counts = ((paper, study, parquet.read(file).to_pandas()) for (paper, study), file in named)
    rows = table(counts, snakemake.params.claims)
    with whole(snakemake.output.table) as file:
        write_csv(rows, file)
    style.use_style()
    style.save(*draw(summary(rows)), Path(snakemake.output.pdf).with_suffix(""))
