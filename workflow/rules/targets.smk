# The names that people type: figures, tables, ledger, a paper, an artifact.
rule figures:
    input:
        plan.files("figure"),
    localrule: True


rule tables:
    input:
        plan.files("table"),
    localrule: True


rule ledger:
    input:
        f"{RESULTS}/ledger.csv",
    localrule: True


for paper in plan.papers:

    rule:
        name:
            paper
        input:
            plan.files("figure", paper),
            plan.files("table", paper),
        localrule: True

    for artifact in plan.papers[paper]["artifacts"]:

        rule:
            name:
                f"{paper}_{artifact}"
            input:
                lambda w, paper=paper, artifact=artifact: plan.artifact_target(paper, artifact),
            localrule: True
