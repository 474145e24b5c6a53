rule build_report:
    input:
        library=plan.library("report"),
        ledger=f"{RESULTS}/ledger.csv",
        artifacts=plan.files("figure") + plan.files("table"),
    output:
        f"{RESULTS}/report.html",
    params:
        scale=SCALE,
        papers=plan.report_papers(),
        datasets=plan.report_datasets(),
    log:
        f"{LOGS}/build_report.log",
    benchmark:
        f"{BENCHMARKS}/build_report.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        "../../environment.yml"
    script:
        "../scripts/build_report.py"
