"""Put all privacy audits into one table, and into one picture."""

from pathlib import Path

from privarms.artifacts import style
from privarms.artifacts.audits import draw
from privarms.artifacts.tables import write_csv
from privarms.audits.verdicts import summary, table
from privarms.files import parquet
from privarms.files.whole import whole
from privarms.job import job

with job(snakemake):
    named = zip(snakemake.params.named, snakemake.input.studies, strict=True)
    counts = ((paper, study, parquet.read(file).to_pandas()) for (paper, study), file in named)
    rows = table(counts, snakemake.params.claims)
    with whole(snakemake.output.table) as file:
        write_csv(rows, file)
    style.use_style()
    style.save(*draw(summary(rows)), Path(snakemake.output.pdf).with_suffix(""))
