# Each job compiles its policy once, so a shard combines blocks of one policy up to a job's work.
rule simulate_shard:
    input:
        unpack(plan.jobs["simulate_shard"].inputs),
    output:
        paths.shard(SCALE, "{paper}", "{shard}"),
    log:
        paths.log(SCALE, "simulate_shard", "{paper}", "{shard}"),
    benchmark:
        paths.benchmark(SCALE, "simulate_shard", "{paper}", "{shard}")
    priority: plan.jobs["simulate_shard"].priority
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 1500 * attempt,
        runtime=plan.jobs["simulate_shard"].minutes,
    params:
        **plan.jobs["simulate_shard"].params("library", "seed", "pieces", "datasets", "files"),
    script:
        "../scripts/simulate_shard.py"
