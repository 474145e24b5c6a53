rule measure_claims:
    input:
        unpack(lambda w: plan.outputs.claim_inputs(w.paper)),
        library=lambda w: paths.library_files("measure_claims", *library.paper_modules(w.paper, "measures")),
        lock=LOCK,
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
        scale=SCALE,
        claims=lambda w: plan.outputs.claims[w.paper],
        tagged=lambda w: plan.outputs.claim_cells(w.paper),
        data=lambda w: plan.outputs.claim_data(w.paper),
    script:
        "../scripts/measure_claims.py"


rule build_ledger:
    input:
        library=paths.library_files("build_ledger"),
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
        about=ledger.about(plan.outputs.claims),
    script:
        "../scripts/build_ledger.py"
