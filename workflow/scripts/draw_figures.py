"""Draw one figure of a paper and write its numbers."""

from pathlib import Path

import pandas as pd

from privarms.audits import verdicts
from privarms.data import STAND_IN
from privarms.planning.results import Results
from privarms.plots import style
from privarms.registry import artifacts
from privarms.runner.job import job

with job(snakemake):
    read = {kind: snakemake.input[kind] for kind in ("cells", "inference", "facts", "published")}
    style.use_style()
    results = Results(snakemake.wildcards.paper, snakemake.params.scale, **read, tags=snakemake.params.tags)
    figure, numbers = artifacts.make(snakemake.params.made_by, results)
    audits = [pd.read_csv(file) for file in snakemake.input.audit]
    lines = verdicts.summary(pd.concat(audits)) if audits else None
    if lines is not None and (warning := verdicts.warning(lines, snakemake.params.policies)):
        style.warn(figure, warning)
    if snakemake.params.data == "stand-in":
        style.watermark(figure)
        # Numbers of a figure of several datasets already have this column.
        numbers = numbers if "data" in numbers else numbers.assign(data=STAND_IN)
    style.save(figure, numbers, Path(snakemake.output[0]).with_suffix(""))
