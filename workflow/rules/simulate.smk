# Each job compiles its policy once, so a shard combines blocks of one policy up to a job's work.
rule simulate_shard:
    input:
        prepared=lambda w: [plan.datasets.prepared(d) for d in plan.simulation.shard_datasets(w.paper, w.shard)],
    output:
        paths.shard(SCALE, "{paper}", "{shard}"),
    log:
        paths.log(SCALE, "simulate_shard", "{paper}", "{shard}"),
    benchmark:
        paths.benchmark(SCALE, "simulate_shard", "{paper}", "{shard}")
    # Start one shard of each policy first, because jobs that run at the same time should not compile the same kernel.
    priority: lambda w: PRIORITY.get(w.paper, 0) - plan.simulation.delay(w.paper, w.shard)
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 1500 * attempt,
        runtime=lambda w, attempt: attempt * plan.simulation.minutes(w.paper, w.shard),
    params:
        library=lambda w: library.digest("simulate_shard", *plan.simulation.shard_modules(w.paper, w.shard)),
        seed=config["seed"],
        pieces=lambda w: plan.simulation.pieces(w.paper, w.shard),
        datasets=lambda w: plan.simulation.shard_datasets(w.paper, w.shard),
        files=lambda w: plan.simulation.digests_of_named_files(w.paper, w.shard),
    script:
        "../scripts/simulate_shard.py"
