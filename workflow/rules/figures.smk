rule draw_figures:
    input:
        unpack(plan.jobs["draw_figures"].inputs),
    output:
        [in_report(paths.artifact(SCALE, "figure", "{paper}", "{artifact}", e)) for e in paths.FIGURE_FORMATS],
    log:
        paths.log(SCALE, "draw_figures", "{paper}", "{artifact}"),
    benchmark:
        paths.benchmark(SCALE, "draw_figures", "{paper}", "{artifact}")
    priority: plan.jobs["draw_figures"].priority
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        **plan.jobs["draw_figures"].params(
            "library", "published", "scale", "made_by", "tags", "data", "policies", "caption"
        ),
    script:
        "../scripts/draw_figures.py"
