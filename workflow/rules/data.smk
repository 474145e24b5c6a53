# A raw file is what its checksum says: no inputs, and no rule for a file that is there, which is the user's.
for dataset, file in plan.absent_raw_files():

    rule:
        name:
            f"fetch_{dataset}_{re.sub('[^A-Za-z0-9]', '_', file)}"
        output:
            f"data/raw/{plan.sources[dataset].folder}/{file}",
        log:
            f"{LOGS}/fetch_raw/{dataset}/{file}.log",
        benchmark:
            f"{BENCHMARKS}/fetch_raw/{dataset}/{file}.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=500,
            runtime=60,
        params:
            dataset=dataset,
            file=file,
        script:
            "../scripts/fetch_raw.py"


rule prepare_dataset:
    input:
        library=lambda w: plan.library("prepare_dataset", *plan.sources[w.dataset].modules),
        lock="uv.lock",
        raw=lambda w: plan.raw_files(w.dataset),
    output:
        table="data/prepared/{dataset}.parquet",
        facts="data/prepared/{dataset}.json",
    log:
        f"{LOGS}/prepare_dataset/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/prepare_dataset/{{dataset}}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=growing(20),
    params:
        sources=config["sources"],
        entry=lambda w: repr(plan.sources[w.dataset]),
    script:
        "../scripts/prepare_dataset.py"


rule generate_standin:
    input:
        library=lambda w: plan.library("prepare_dataset", *plan.sources[w.dataset].modules),
        lock="uv.lock",
    output:
        table="data/prepared/{dataset}_standin.parquet",
        facts="data/prepared/{dataset}_standin.json",
    log:
        f"{LOGS}/generate_standin/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/generate_standin/{{dataset}}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=growing(20),
    params:
        sources=config["sources"],
        entry=lambda w: repr(plan.sources[w.dataset]),
    script:
        "../scripts/prepare_dataset.py"
