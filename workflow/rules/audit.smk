# Every study of the protocol `audit`, of all papers.
AUDITS = plan.simulation.audits()


rule build_audit:
    input:
        studies=[paths.study(SCALE, paper, study) for paper, study in AUDITS],
    output:
        table=paths.audit(SCALE),
        pdf=paths.audit_picture(SCALE, "pdf"),
        png=paths.audit_picture(SCALE, "png"),
        svg=paths.audit_picture(SCALE, "svg"),
        csv=paths.audit_picture(SCALE, "csv"),
    log:
        paths.log(SCALE, "build_audit"),
    benchmark:
        paths.benchmark(SCALE, "build_audit")
    priority: DATA_FIRST  # a table of the last collection waits for the audits
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        library=lambda w: digests.of_job("build_audit", *plan.simulation.audit_modules()),
        named=AUDITS,
        claims=plan.simulation.claims(),
    script:
        "../scripts/build_audit.py"


# A figure warns of its own policies only, so it does not wait for all audits.
rule judge_audits:
    input:
        unpack(plan.jobs["judge_audits"].inputs),
    output:
        paths.audit_of(SCALE, "{policy}"),
    log:
        paths.log(SCALE, "judge_audits", "{policy}"),
    benchmark:
        paths.benchmark(SCALE, "judge_audits", "{policy}")
    wildcard_constraints:
        policy="[a-z][a-z0-9_]*",
    priority: DATA_FIRST
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        **plan.jobs["judge_audits"].params("library", "named", "claims"),
    script:
        "../scripts/judge_audits.py"
