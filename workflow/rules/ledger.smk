for paper in plan.claims:

    rule:
        name:
            f"measure_{paper}_claims"
        input:
            library=plan.library("measure_claims", f"artifacts.{paper}.claims"),
            lock="uv.lock",
            results=plan.artifact_inputs(paper),
        output:
            f"{RESULTS}/claims/{paper}.csv",
        log:
            f"{LOGS}/measure_claims/{paper}.log",
        benchmark:
            f"{BENCHMARKS}/measure_claims/{paper}.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=20,
        params:
            paper=paper,
            scale=SCALE,
            prepared=plan.prepared_facts(paper),
            claims=plan.claims[paper],
            data=plan.claim_data(paper),
        script:
            "../scripts/measure_claims.py"


rule build_ledger:
    input:
        library=plan.library("build_ledger"),
        verdicts=expand(f"{RESULTS}/claims/{{paper}}.csv", paper=plan.claims),
    output:
        f"{RESULTS}/ledger.csv",
    log:
        f"{LOGS}/build_ledger.log",
    benchmark:
        f"{BENCHMARKS}/build_ledger.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/build_ledger.py"
