rule compute_inference:
    input:
        unpack(lambda w: plan.outputs.inference_inputs(w.paper, w.table)),
    output:
        paths.inference(SCALE, "{paper}", "{table}"),
    log:
        paths.log(SCALE, "compute_inference", "{paper}", "{table}"),
    benchmark:
        paths.benchmark(SCALE, "compute_inference", "{paper}", "{table}")
    priority: lambda w: PRIORITY.get(w.paper, 0)
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 1000 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    params:
        library=lambda w: library.digest("compute_inference", plan.outputs.inference_table(w.paper, w.table).made_by[0]),
        published=lambda w: plan.outputs.published(w.paper),
        scale=SCALE,
        made_by=lambda w: plan.outputs.inference_table(w.paper, w.table).made_by,
        seed=config["seed"],
    script:
        "../scripts/compute_inference.py"
