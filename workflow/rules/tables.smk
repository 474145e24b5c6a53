for paper in plan.papers:

    if plan.artifacts(paper, "table"):

        rule:
            name:
                f"write_{paper}_tables"
            input:
                library=plan.library("write_tables", f"artifacts.{paper}.tables"),
                lock="uv.lock",
                results=plan.artifact_inputs(paper, "table"),
            output:
                plan.files("table", paper),
            log:
                f"{LOGS}/write_tables/{paper}.log",
            benchmark:
                f"{BENCHMARKS}/write_tables/{paper}.tsv"
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
                artifacts={
                    name: (plan.artifact_file(paper, name), plan.artifact_data(paper, name))
                    for name in plan.artifacts(paper, "table")
                },
            script:
                "../scripts/write_tables.py"
