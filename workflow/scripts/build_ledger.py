"""Join the papers' cases into one ledger, and write the outcome of each statement."""

from privarms.ledger import cases, files, outcomes
from privarms.runner.job import job

with job(snakemake):
    rows = [row for path in snakemake.input.cases for row in files.read(path)]
    files.write(rows, snakemake.output.ledger, cases.COLUMNS)
    statements = list(outcomes.statements(rows, snakemake.params.about))
    files.write(statements, snakemake.output.statements, outcomes.COLUMNS)
