rule draw_figures:
    input:
        unpack(lambda w: plan.outputs.artifact_inputs(*plan.outputs.of_files("figure", w))),
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
        library=lambda w: library.digest(
            "draw_figures", plan.outputs.entry(*plan.outputs.of_files("figure", w)).made_by[0]
        ),
        published=lambda w: plan.outputs.published(w.paper),
        scale=SCALE,
        made_by=lambda w: plan.outputs.entry(*plan.outputs.of_files("figure", w)).made_by,
        data=lambda w: plan.outputs.origin(*plan.outputs.of_files("figure", w)),
        policies=lambda w: plan.outputs.private_policies(*plan.outputs.of_files("figure", w)),
    script:
        "../scripts/draw_figures.py"
