rule simulate_shard:
    input:
        library=lambda w: plan.shard_library(w.paper, w.study, w.shard),
        lock="uv.lock",
        prepared=lambda w: [plan.prepared(d) for d in plan.datasets(w.paper, w.study)],
    output:
        f"{RESULTS}/shards/{{paper}}/{{study}}/{{shard}}.parquet",
    log:
        f"{LOGS}/simulate_shard/{{paper}}/{{study}}/{{shard}}.log",
    benchmark:
        f"{BENCHMARKS}/simulate_shard/{{paper}}/{{study}}/{{shard}}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=lambda w: plan.shard_minutes(w.paper, w.study, w.shard),
    params:
        seed=config["seed"],
        pieces=lambda w: plan.pieces(w.paper, w.study, w.shard),
        datasets=lambda w: plan.datasets(w.paper, w.study),
    script:
        "../scripts/simulate_shard.py"
