"""Join the papers' verdicts into one ledger, and write the outcome of each statement."""

from privarms.claims import ledger
from privarms.job import job

with job(snakemake):
    rows = [row for path in snakemake.input.verdicts for row in ledger.read(path)]
    ledger.write(rows, snakemake.output.ledger)
    statements = ledger.statements(snakemake.params.about, rows)
    ledger.write(statements, snakemake.output.statements, ledger.STATEMENTS)
