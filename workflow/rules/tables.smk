# Tables with a layout for reading; these also get a picture.
SHEETS = (
    "|".join(f"{paper}/{file}[.]" for paper in plan.outputs.papers for file in plan.outputs.sheets(paper)) or "(?!)"
)


# The paper and the name of the table with the files that a job makes.
def table_of(w):
    return w.paper, plan.outputs.artifact_named(w.paper, "table", w.artifact)


rule write_tables:
    input:
        unpack(lambda w: plan.outputs.artifact_inputs(*table_of(w))),
        library=lambda w: paths.library_files("write_tables", plan.outputs.entry(*table_of(w)).made_by[0]),
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
        written_by=lambda w: plan.outputs.entry(*table_of(w)).made_by,
        data=lambda w: plan.outputs.origin(*table_of(w)),
        policies=lambda w: plan.outputs.private_policies(*table_of(w)),
        sheet=lambda w: plan.outputs.entry(*table_of(w)).sheet,
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
