# The paper and the name of the figure with the files that a job makes.
def figure_of(w):
    return w.paper, plan.outputs.artifact_named(w.paper, "figure", w.artifact)


rule draw_figures:
    input:
        unpack(lambda w: plan.outputs.artifact_inputs(*figure_of(w))),
        library=lambda w: paths.library_files("draw_figures", plan.outputs.entry(*figure_of(w)).made_by[0]),
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
        drawn_by=lambda w: plan.outputs.entry(*figure_of(w)).made_by,
        data=lambda w: plan.outputs.origin(*figure_of(w)),
        policies=lambda w: plan.outputs.private_policies(*figure_of(w)),
    script:
        "../scripts/draw_figures.py"
