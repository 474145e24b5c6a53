"""Join the papers' verdicts into one ledger."""

import pandas as pd

from privarms import ledger
from privarms.files import write_text
from privarms.job import job

with job(snakemake):
    joined = pd.concat([ledger.read(path) for path in snakemake.input.verdicts])
    write_text(snakemake.output[0], joined.to_csv(index=False, lineterminator="\n"))
