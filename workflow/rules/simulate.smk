# A job compiles its policy once: it runs as many of the policy's shards as make up a job's work, of one kind of run.
for paper in plan.papers:

    for task in plan.tasks(paper):

        rule:
            name:
                f"simulate_{paper}_{task.replace('-', '_')}"
            input:
                library=plan.task_library(paper, task),
                lock="uv.lock",
                prepared=[plan.prepared(d) for d in plan.task_datasets(paper, task)],
            output:
                plan.task_files(paper, task),
            log:
                f"{LOGS}/simulate_shards/{paper}/{task}.log",
            benchmark:
                f"{BENCHMARKS}/simulate_shards/{paper}/{task}.tsv"
            conda:
                "../../environment.yml"
            threads: 1
            resources:
                mem_mb=growing(1500),
                runtime=growing(plan.task_minutes(paper, task)),
            params:
                seed=config["seed"],
                shards=lambda w, paper=paper, task=task: plan.task_pieces(paper, task),
                datasets=plan.task_datasets(paper, task),
            script:
                "../scripts/simulate_shards.py"
