# Targets for users: figures, tables, ledger, audit, one paper, one artifact.
rule figures:
    input:
        plan.outputs.files("figure"),
    localrule: True


rule tables:
    input:
        plan.outputs.files("table"),
    localrule: True


rule ledger:
    input:
        paths.ledger(SCALE),
    localrule: True


rule audit:
    input:
        paths.audit(SCALE),
    localrule: True


for paper in plan.outputs.papers:

    rule:
        name:
            paper
        input:
            plan.outputs.files("figure", paper),
            plan.outputs.files("table", paper),
            [paths.cases(SCALE, paper)] if paper in plan.outputs.statements else [],
        localrule: True

    for artifact in plan.outputs.papers[paper].artifacts:

        rule:
            name:
                f"{paper}_{artifact}"
            input:
                lambda w, paper=paper, artifact=artifact: plan.outputs.artifact_target(paper, artifact),
            localrule: True
