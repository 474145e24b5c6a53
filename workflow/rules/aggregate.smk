rule aggregate_study:
    input:
        unpack(plan.jobs["aggregate_study"].inputs),
    output:
        study=paths.study(SCALE, "{paper}", "{study}"),
        cells=paths.cells(SCALE, "{paper}", "{study}"),
    log:
        paths.log(SCALE, "aggregate_study", "{paper}", "{study}"),
    benchmark:
        paths.benchmark(SCALE, "aggregate_study", "{paper}", "{study}")
    priority: plan.jobs["aggregate_study"].priority
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 1500 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    params:
        **plan.jobs["aggregate_study"].params("library", "scale", "seed", "cells", "statuses"),
    script:
        "../scripts/aggregate_study.py"
