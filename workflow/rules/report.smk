rule build_report:
    input:
        ledger=paths.ledger(SCALE),
        statements=paths.statements(SCALE),
        audit_table=paths.audit(SCALE),
        audit_csv=paths.audit_picture(SCALE, "csv"),
        audit_pdf=paths.audit_picture(SCALE, "pdf"),
        audit_png=paths.audit_picture(SCALE, "png"),
        audit_svg=paths.audit_picture(SCALE, "svg"),
        artifacts=plan.outputs.files("figure") + plan.outputs.files("table"),
    output:
        paths.report(SCALE),
    log:
        paths.log(SCALE, "build_report"),
    benchmark:
        paths.benchmark(SCALE, "build_report")
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        library=lambda w: digests.of_job("build_report"),
        scale=SCALE,
        options=OPTIONS,
        seed=config["seed"],
        papers=lambda w: plan.outputs.described(),
        # A parameter, so an edited word builds the report again.
        glossary=lambda w: words.glossary(),
        datasets=plan.datasets.described(),
    script:
        "../scripts/build_report.py"
