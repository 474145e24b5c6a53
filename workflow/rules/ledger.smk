rule judge_statements:
    input:
        unpack(plan.jobs["judge_statements"].inputs),
    output:
        paths.cases(SCALE, "{paper}"),
    log:
        paths.log(SCALE, "judge_statements", "{paper}"),
    benchmark:
        paths.benchmark(SCALE, "judge_statements", "{paper}")
    priority: plan.jobs["judge_statements"].priority
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        **plan.jobs["judge_statements"].params(
            "library", "published", "statements", "tagged", "shrunk", "data", "complete"
        ),
    script:
        "../scripts/judge_statements.py"


# The verdicts on one figure or table, without the rest of its paper.
use rule judge_statements as judge_statements_about with:
    output:
        paths.cases(SCALE, "{paper}/{artifact}"),
    log:
        paths.log(SCALE, "judge_statements_about", "{paper}", "{artifact}"),
    benchmark:
        paths.benchmark(SCALE, "judge_statements_about", "{paper}", "{artifact}")
    # `use rule` does not copy this line.
    localrule: True


rule build_ledger:
    input:
        cases=[paths.cases(SCALE, paper) for paper in plan.outputs.statements],
    output:
        ledger=paths.ledger(SCALE),
        statements=paths.statements(SCALE),
    log:
        paths.log(SCALE, "build_ledger"),
    benchmark:
        paths.benchmark(SCALE, "build_ledger")
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        library=lambda w: digests.of_job("build_ledger"),
        about={f"{paper}/{one.name}": one.about for paper, some in plan.outputs.statements.items() for one in some},
    script:
        "../scripts/build_ledger.py"
