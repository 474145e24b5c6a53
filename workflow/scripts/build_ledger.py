"""Join the papers' verdicts into one ledger."""

from privarms import ledger
from privarms.job import job

with job(snakemake):
    ledger.write([row for path in snakemake.input.verdicts for row in ledger.read(path)], snakemake.output[0])
