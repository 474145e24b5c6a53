rule aggregate_study:
    input:
        shards=lambda w: plan.simulation.shard_files(w.paper, w.study),
    output:
        study=paths.study(SCALE, "{paper}", "{study}"),
        cells=paths.cells(SCALE, "{paper}", "{study}"),
    log:
        paths.log(SCALE, "aggregate_study", "{paper}", "{study}"),
    benchmark:
        paths.benchmark(SCALE, "aggregate_study", "{paper}", "{study}")
    priority: lambda w: PRIORITY.get(w.paper, 0)
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 1500 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    params:
        library=lambda w: library.digest("aggregate_study", *plan.simulation.study_modules(w.paper, w.study)),
        scale=SCALE,
        seed=config["seed"],
        cells=lambda w: [cell.plain(c) for c in plan.simulation.cells[w.paper, w.study]],
        statuses=lambda w: {d: plan.datasets.statuses[d] for d in plan.simulation.datasets_of(w.paper, w.study)},
    script:
        "../scripts/aggregate_study.py"
