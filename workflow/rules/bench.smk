rule bench_kernels:
    input:
        library=lambda w: plan.library("bench"),
        lock="uv.lock",
    output:
        "results/bench.csv",
    log:
        "logs/bench_kernels.log",
    benchmark:
        "benchmarks/bench_kernels.tsv"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    conda:
        "../../environment.yml"
    script:
        "../scripts/bench_kernels.py"


rule bench:
    localrule: True
    input:
        "results/bench.csv",
