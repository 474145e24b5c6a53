# Tables with a layout for reading; these also get a picture.
SHEETS = (
    "|".join(f"{paper}/{file}[.]" for paper in plan.outputs.papers for file in plan.outputs.sheets(paper)) or "(?!)"
)


rule write_tables:
    input:
        unpack(lambda w: plan.outputs.artifact_inputs(*plan.outputs.of_files("table", w))),
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
        library=lambda w: library.digest(
            "write_tables", plan.outputs.entry(*plan.outputs.of_files("table", w)).made_by[0]
        ),
        published=lambda w: plan.outputs.published(w.paper),
        scale=SCALE,
        made_by=lambda w: plan.outputs.entry(*plan.outputs.of_files("table", w)).made_by,
        data=lambda w: plan.outputs.origin(*plan.outputs.of_files("table", w)),
        policies=lambda w: plan.outputs.private_policies(*plan.outputs.of_files("table", w)),
        sheet=lambda w: plan.outputs.entry(*plan.outputs.of_files("table", w)).sheet,
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
    # `use rule` does not copy this line.
    localrule: True
