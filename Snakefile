# `snakemake` in this folder runs workflow/Snakefile, which Snakemake finds as well where this file is missing.
include: "workflow/Snakefile"


# Snakemake takes the default target only from this file.
rule default:
    default_target: True
    input:
        rules.all.input,
    localrule: True
