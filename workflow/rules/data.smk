# A raw file is what its checksum says, so nothing but another checksum makes it be fetched again: no inputs.
rule fetch_raw:
    output:
        "data/raw/{dataset}/{file}",
    params:
        sha256=lambda w: plan.sha256(w.dataset, w.file),
    log:
        f"{LOGS}/fetch_raw/{{dataset}}/{{file}}.log",
    benchmark:
        f"{BENCHMARKS}/fetch_raw/{{dataset}}/{{file}}.tsv"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    conda:
        "../../environment.yml"
    script:
        "../scripts/fetch_raw.py"


rule prepare_dataset:
    input:
        library=lambda w: plan.library("data.preparation", f"data.{w.dataset}"),
        lock="uv.lock",
        raw=lambda w: plan.raw_files(w.dataset),
    output:
        table="data/prepared/{dataset}.parquet",
        facts="data/prepared/{dataset}.json",
    params:
        sources=config["sources"],
    log:
        f"{LOGS}/prepare_dataset/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/prepare_dataset/{{dataset}}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    conda:
        "../../environment.yml"
    script:
        "../scripts/prepare_dataset.py"


rule generate_standin:
    input:
        library=lambda w: plan.library("data.preparation", f"data.{w.dataset}"),
        lock="uv.lock",
    output:
        table="data/prepared/{dataset}_standin.parquet",
        facts="data/prepared/{dataset}_standin.json",
    params:
        sources=config["sources"],
    log:
        f"{LOGS}/generate_standin/{{dataset}}.log",
    benchmark:
        f"{BENCHMARKS}/generate_standin/{{dataset}}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    conda:
        "../../environment.yml"
    script:
        "../scripts/prepare_dataset.py"
