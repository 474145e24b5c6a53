rule build_report:
    input:
        library=plan.library("build_report"),
        ledger=f"{RESULTS}/ledger.csv",
        artifacts=plan.files("figure") + plan.files("table"),
    output:
        f"{RESULTS}/report.html",
    log:
        f"{LOGS}/build_report.log",
    benchmark:
        f"{BENCHMARKS}/build_report.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        scale=SCALE,
        papers=plan.report_papers(),
        datasets=plan.report_datasets(),
    script:
        "../scripts/build_report.py"
