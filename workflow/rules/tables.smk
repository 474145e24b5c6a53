# Tables with a layout for reading; these also get a picture.
SHEETS = (
    "|".join(f"{paper}/{file}[.]" for paper in plan.outputs.papers for file in plan.outputs.sheets(paper)) or "(?!)"
)


rule write_tables:
    input:
        unpack(
            lambda w: plan.outputs.artifact_inputs(w.paper, plan.outputs.artifact_named(w.paper, "table", w.artifact))
        ),
        library=lambda w: paths.library_files("write_tables", plan.outputs.made_by(w.paper, "table", w.artifact)[0]),
        lock=LOCK,
    output:
        [paths.artifact(SCALE, "table", "{paper}", "{artifact}", e) for e in paths.TABLE_FORMATS],
    log:
        paths.log(SCALE, "write_tables", "{paper}", "{artifact}"),
    benchmark:
        paths.benchmark(SCALE, "write_tables", "{paper}", "{artifact}")
    wildcard_constraints:
        paper=f"(?!{SHEETS})[a-z][a-z0-9]*",
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
        written_by=lambda w: plan.outputs.made_by(w.paper, "table", w.artifact),
        data=lambda w: plan.outputs.origin(w.paper, plan.outputs.artifact_named(w.paper, "table", w.artifact)),
        policies=lambda w: plan.outputs.private_policies(
            w.paper, plan.outputs.artifact_named(w.paper, "table", w.artifact)
        ),
        sheet=lambda w: plan.outputs.sheet(w.paper, w.artifact),
    script:
        "../scripts/write_tables.py"


use rule write_tables as lay_out_tables with:
    output:
        [paths.artifact(SCALE, "table", "{paper}", "{artifact}", e) for e in paths.SHEET_FORMATS],
    log:
        paths.log(SCALE, "lay_out_tables", "{paper}", "{artifact}"),
    benchmark:
        paths.benchmark(SCALE, "lay_out_tables", "{paper}", "{artifact}")
    wildcard_constraints:
        paper=f"(?={SHEETS})[a-z][a-z0-9]*",
