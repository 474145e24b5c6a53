# Raw files have no inputs, because checksums define them. An existing raw file belongs to the user and has no rule.
ABSENT = plan.datasets.absent()
SOURCES = paths.located(config["sources"])


rule fetch_raw:
    output:
        paths.raw("{file}"),
    log:
        paths.log(SCALE, "fetch_raw", "{file}"),
    benchmark:
        paths.benchmark(SCALE, "fetch_raw", "{file}")
    wildcard_constraints:
        file="|".join(map(re.escape, ABSENT)) or "(?!)",
    priority: DATA_FIRST
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    params:
        sources=SOURCES,
        dataset=lambda w: ABSENT[w.file][0],
        file=lambda w: ABSENT[w.file][1],
    script:
        "../scripts/fetch_raw.py"


rule generate_standin:
    output:
        table=paths.prepared("{dataset}", "parquet", stand_in=True, scale=SCALE),
        facts=paths.prepared("{dataset}", "json", stand_in=True, scale=SCALE),
    log:
        paths.log(SCALE, "generate_standin", "{dataset}"),
    benchmark:
        paths.benchmark(SCALE, "generate_standin", "{dataset}")
    priority: DATA_FIRST
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 1500 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    params:
        library=lambda w: digests.of_job("prepare_dataset", f"data.{plan.datasets.sources[w.dataset].module}"),
        sources=lambda w: plan.datasets.sources[w.dataset].sources or SOURCES,
        entry=lambda w: repr(plan.datasets.sources[w.dataset]),
        # Scale tiny uses the first lines of each file of a stand-in.
        lines=1000 if SCALE == "tiny" else None,
    script:
        "../scripts/prepare_dataset.py"


use rule generate_standin as prepare_dataset with:
    input:
        raw=lambda w: plan.datasets.raw_files(w.dataset),
    output:
        table=paths.prepared("{dataset}", "parquet"),
        facts=paths.prepared("{dataset}", "json"),
    log:
        paths.log(SCALE, "prepare_dataset", "{dataset}"),
    benchmark:
        paths.benchmark(SCALE, "prepare_dataset", "{dataset}")
    params:
        # Snakemake compares only dates, and records no parameter that is computed from `input`.
        digests=lambda w: plan.datasets.raw_digests(w.dataset),
