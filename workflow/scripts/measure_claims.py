"""Hold a paper's claims against what was measured."""

import importlib

from privarms import ledger
from privarms.artifacts.results import Results
from privarms.job import job

with job(snakemake):
    paper, scale = snakemake.params.paper, snakemake.params.scale
    measures = importlib.import_module(f"privarms.artifacts.{paper}.claims").MEASURES
    results = Results(snakemake.params.folder, paper, snakemake.params.prepared)
    rows = []
    for claim in snakemake.params.claims:
        missing = snakemake.params.missing.get(claim["artifact"])
        found = missing or measures[claim["measure"]](results, **claim.get("arguments", {}))
        data = snakemake.params.data[claim["artifact"]]
        rows.append(ledger.judge(claim, found, paper=paper, scale=scale, data=data))
    ledger.write(rows, snakemake.output[0])
