rule compute_inference:
    input:
        unpack(plan.jobs["compute_inference"].inputs),
    output:
        paths.inference(SCALE, "{paper}", "{table}"),
    log:
        paths.log(SCALE, "compute_inference", "{paper}", "{table}"),
    benchmark:
        paths.benchmark(SCALE, "compute_inference", "{paper}", "{table}")
    priority: plan.jobs["compute_inference"].priority
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 1000 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    params:
        **plan.jobs["compute_inference"].params("library", "published", "scale", "seed", "made_by", "tags"),
    script:
        "../scripts/compute_inference.py"
