"""Hold a paper's claims against what was measured."""

import importlib
from pathlib import Path

from privarms import ledger
from privarms.artifacts.results import Results
from privarms.job import job

with job(snakemake):
    paper, scale = snakemake.params.paper, snakemake.params.scale
    measures = importlib.import_module(f"privarms.artifacts.{paper}.claims").MEASURES
    folder = Path(snakemake.output[0]).parents[1]
    results = Results(folder, paper, snakemake.params.prepared)
    rows = []
    for claim, (data, missing) in zip(snakemake.params.claims, snakemake.params.data, strict=True):
        found = missing or claim.get("unverifiable")
        if found is None:
            found = measures[claim["measure"]](results, **claim.get("arguments", {}))
        rows.append(ledger.judge(claim, found, paper=paper, scale=scale, data=data))
    ledger.write(rows, snakemake.output[0])
