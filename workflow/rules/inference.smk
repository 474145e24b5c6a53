# One job a paper: its inference tables share what they read.
for paper in plan.papers:

    if plan.inference(paper):

        rule:
            name:
                f"compute_{paper}_inference"
            input:
                library=plan.library("compute_inference", f"artifacts.{paper}.inference"),
                lock="uv.lock",
                studies=plan.inference_inputs(paper),
            output:
                plan.inference_files(paper),
            log:
                f"{LOGS}/compute_inference/{paper}.log",
            benchmark:
                f"{BENCHMARKS}/compute_inference/{paper}.tsv"
            conda:
                "../../environment.yml"
            threads: 1
            resources:
                mem_mb=growing(4500),
                runtime=growing(20),
            params:
                paper=paper,
                scale=SCALE,
                seed=config["seed"],
                cells=plan.inference_cells(paper),
            script:
                "../scripts/compute_inference.py"
