# The names that people type: figures, tables, ledger, a paper, an artifact.
rule figures:
    localrule: True
    input:
        plan.files("figure"),


rule tables:
    localrule: True
    input:
        plan.files("table"),


rule ledger:
    localrule: True
    input:
        f"{RESULTS}/ledger.csv",


for paper in plan.papers:

    rule:
        name:
            paper
        localrule: True
        input:
            plan.files("figure", paper),
            plan.files("table", paper),

    for artifact in plan.papers[paper]["artifacts"]:

        rule:
            name:
                f"{paper}_{artifact}"
            localrule: True
            input:
                lambda w, paper=paper, artifact=artifact: plan.artifact_target(paper, artifact),
