"""Write one table of a paper as CSV, Markdown and LaTeX; if it has a layout for reading, also as a picture."""

from pathlib import Path

import pandas as pd

from privarms.audits import verdicts
from privarms.planning.results import Results
from privarms.plots.sheet import write_sheet
from privarms.plots.tables import write_table
from privarms.registry import artifacts, library
from privarms.runner.job import job

with job(snakemake):
    read = {kind: snakemake.input[kind] for kind in ("cells", "inference", "facts", "published")}
    stem, stand_in = Path(snakemake.output[0]).with_suffix(""), snakemake.params.data == "stand-in"
    results = Results(snakemake.wildcards.paper, snakemake.params.scale, **read, tags=snakemake.params.tags)
    frame = artifacts.make(snakemake.params.made_by, results)
    if snakemake.params.sheet:
        module, function = snakemake.params.sheet
        sheet = getattr(library.load_module(module), function)(frame, results)
        write_sheet(frame, sheet, stem, stand_in=stand_in)
    else:
        audits = [pd.read_csv(file) for file in snakemake.input.audit]
        lines = verdicts.summary(pd.concat(audits)) if audits else None
        warning = verdicts.warning(lines, snakemake.params.policies) if lines is not None else ""
        write_table(frame, stem, stand_in=stand_in, warning=warning)
