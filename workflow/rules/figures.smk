rule draw_figures:
    input:
        unpack(
            lambda w: plan.outputs.artifact_inputs(w.paper, plan.outputs.artifact_named(w.paper, "figure", w.artifact))
        ),
        library=lambda w: paths.library_files("draw_figures", plan.outputs.made_by(w.paper, "figure", w.artifact)[0]),
        lock=LOCK,
    output:
        [paths.artifact(SCALE, "figure", "{paper}", "{artifact}", e) for e in paths.FIGURE_FORMATS],
    log:
        paths.log(SCALE, "draw_figures", "{paper}", "{artifact}"),
    benchmark:
        paths.benchmark(SCALE, "draw_figures", "{paper}", "{artifact}")
    priority: lambda w: PRIORITY.get(w.paper, 0)
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        scale=SCALE,
        drawn_by=lambda w: plan.outputs.made_by(w.paper, "figure", w.artifact),
        data=lambda w: plan.outputs.origin(w.paper, plan.outputs.artifact_named(w.paper, "figure", w.artifact)),
        policies=lambda w: plan.outputs.private_policies(
            w.paper, plan.outputs.artifact_named(w.paper, "figure", w.artifact)
        ),
    script:
        "../scripts/draw_figures.py"
