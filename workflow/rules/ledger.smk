rule measure_claims:
    input:
        unpack(lambda w: plan.outputs.claim_inputs(w.paper)),
    output:
        paths.claims(SCALE, "{paper}"),
    log:
        paths.log(SCALE, "measure_claims", "{paper}"),
    benchmark:
        paths.benchmark(SCALE, "measure_claims", "{paper}")
    priority: lambda w: PRIORITY.get(w.paper, 0)
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        library=lambda w: library.digest("measure_claims", *library.paper_modules(w.paper, "measures")),
        published=lambda w: plan.outputs.published(w.paper),
        scale=SCALE,
        claims=lambda w: plan.outputs.claims[w.paper],
        tagged=lambda w: plan.outputs.claim_cells(w.paper),
        data=lambda w: plan.outputs.claim_data(w.paper),
    script:
        "../scripts/measure_claims.py"


# The verdicts on one figure or table, without the rest of its paper.
use rule measure_claims as measure_claims_about with:
    input:
        unpack(lambda w: plan.outputs.claim_inputs(w.paper, w.artifact)),
    output:
        paths.claims(SCALE, "{paper}/{artifact}"),
    log:
        paths.log(SCALE, "measure_claims_about", "{paper}", "{artifact}"),
    benchmark:
        paths.benchmark(SCALE, "measure_claims_about", "{paper}", "{artifact}")
    params:
        library=lambda w: library.digest("measure_claims", *library.paper_modules(w.paper, "measures")),
        published=lambda w: plan.outputs.published(w.paper),
        scale=SCALE,
        claims=lambda w: plan.outputs.claims_about(w.paper, w.artifact),
        tagged=lambda w: plan.outputs.claim_cells(w.paper, w.artifact),
        data=lambda w: plan.outputs.claim_data(w.paper, w.artifact),


rule build_ledger:
    input:
        verdicts=[paths.claims(SCALE, paper) for paper in plan.outputs.claims],
    output:
        ledger=paths.ledger(SCALE),
        statements=paths.statements(SCALE),
    log:
        paths.log(SCALE, "build_ledger"),
    benchmark:
        paths.benchmark(SCALE, "build_ledger")
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        library=library.digest("build_ledger"),
        about=ledger.about(plan.outputs.claims),
    script:
        "../scripts/build_ledger.py"
