# One job a paper: importing the plotting libraries costs more than drawing a figure.
for paper in plan.papers:

    if plan.artifacts(paper, "figure"):

        rule:
            name:
                f"draw_{paper}_figures"
            input:
                library=plan.library("draw_figures", f"artifacts.{paper}.figures"),
                lock="uv.lock",
                results=plan.artifact_inputs(paper, "figure"),
            output:
                plan.files("figure", paper),
            log:
                f"{LOGS}/draw_figures/{paper}.log",
            benchmark:
                f"{BENCHMARKS}/draw_figures/{paper}.tsv"
            localrule: True
            conda:
                "../../environment.yml"
            threads: 1
            resources:
                mem_mb=1000,
                runtime=20,
            params:
                paper=paper,
                prepared=plan.prepared_facts(paper),
                artifacts={name: plan.artifact_data(paper, name) for name in plan.artifacts(paper, "figure")},
            script:
                "../scripts/draw_figures.py"
