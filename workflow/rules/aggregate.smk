rule aggregate_study:
    input:
        library=lambda w: plan.study_library(w.paper, w.study),
        lock="uv.lock",
        shards=lambda w: plan.shards(w.paper, w.study),
    output:
        study=f"{RESULTS}/studies/{{paper}}/{{study}}.parquet",
        cells=f"{RESULTS}/studies/{{paper}}/{{study}}_cells.parquet",
    log:
        f"{LOGS}/aggregate_study/{{paper}}/{{study}}.log",
    benchmark:
        f"{BENCHMARKS}/aggregate_study/{{paper}}/{{study}}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        scale=SCALE,
        seed=config["seed"],
        cells=lambda w: plan.cells(w.paper, w.study),
        statuses=lambda w: {d: plan.statuses[d] for d in plan.datasets(w.paper, w.study)},
    script:
        "../scripts/aggregate_study.py"
