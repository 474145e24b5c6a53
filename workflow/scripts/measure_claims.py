"""Measure a paper's claims, or those about one artifact, and judge them by the measured values."""

import logging

from privarms.claims import ledger, measures
from privarms.errors import UnnamedInputError
from privarms.jit import cache
from privarms.job import job
from privarms.studies import library
from privarms.studies.results import Results

with job(snakemake):
    cache.use(library.imported_texts)
    paper, scale = snakemake.wildcards.paper, snakemake.params.scale
    named = library.paper_functions(paper, "measures")
    read = {kind: snakemake.input[kind] for kind in ("cells", "inference", "facts", "published")}
    results = Results(paper, scale, **read, tagged=snakemake.params.tagged)
    rows, measured, elsewhere = [], [], []
    for claim, (data, missing) in zip(snakemake.params.claims, snakemake.params.data, strict=True):
        value = missing or claim.get("unverifiable")
        if not value:
            try:
                value = ledger.measure(measures.function(claim["measure"], named), results, claim)
            except UnnamedInputError:
                if snakemake.wildcards.get("artifact") is None:
                    raise
                elsewhere.append(claim["claim"])
                continue
            measured.append(claim)
        rows.append(ledger.judge(claim, value, paper=paper, scale=scale, data=data))
    if elsewhere:
        logging.getLogger(__name__).warning("`snakemake %s` measures the claims %s too", paper, ", ".join(elsewhere))
    results.refuse_unmet(measured)
    ledger.write(rows, snakemake.output[0])
