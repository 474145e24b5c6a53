# Tables with a layout for reading; these also get a picture.
SHEETS = (
    "|".join(f"{paper}/{file}[.]" for paper in plan.outputs.papers for file in plan.outputs.sheets(paper)) or "(?!)"
)


rule write_tables:
    input:
        unpack(plan.jobs["write_tables"].inputs),
    output:
        [in_report(paths.artifact(SCALE, "table", "{paper}", "{artifact}", e)) for e in paths.TABLE_FORMATS],
    log:
        paths.log(SCALE, "write_tables", "{paper}", "{artifact}"),
    benchmark:
        paths.benchmark(SCALE, "write_tables", "{paper}", "{artifact}")
    wildcard_constraints:
        paper=f"(?!{SHEETS})[a-z][a-z0-9]*",
    priority: plan.jobs["write_tables"].priority
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        **plan.jobs["write_tables"].params(
            "library", "published", "scale", "made_by", "tags", "data", "policies", "sheet", "caption"
        ),
    script:
        "../scripts/write_tables.py"


use rule write_tables as lay_out_tables with:
    output:
        [in_report(paths.artifact(SCALE, "table", "{paper}", "{artifact}", e)) for e in paths.SHEET_FORMATS],
    log:
        paths.log(SCALE, "lay_out_tables", "{paper}", "{artifact}"),
    benchmark:
        paths.benchmark(SCALE, "lay_out_tables", "{paper}", "{artifact}")
    wildcard_constraints:
        paper=f"(?={SHEETS})[a-z][a-z0-9]*",
    # `use rule` does not copy this line.
    localrule: True
