"""Measure a paper's claims and judge them by the measured values."""

from privarms.claims import ledger, measures
from privarms.jit import cache
from privarms.job import job
from privarms.studies import library
from privarms.studies.results import Results

with job(snakemake):
    cache.use(library.sources)
    paper, scale = snakemake.wildcards.paper, snakemake.params.scale
    named = library.paper_functions(paper, "measures")
    read = {kind: snakemake.input[kind] for kind in ("cells", "inference", "facts", "published")}
    results = Results(paper, scale, **read, tagged=snakemake.params.tagged)
    rows, measured = [], []
    for claim, (data, missing) in zip(snakemake.params.claims, snakemake.params.data, strict=True):
        value = missing or claim.get("unverifiable")
        if not value:
            value = ledger.measure(measures.function(claim["measure"], named), results, claim)
            measured.append(claim)
        rows.append(ledger.judge(claim, value, paper=paper, scale=scale, data=data))
    results.refuse_unmet(measured)
    ledger.write(rows, snakemake.output[0])
