def in_report(file):
    """Return a file of a figure or table; a picture and a CSV file are also for `snakemake --report`."""
    suffix = file.rpartition(".")[2]
    if suffix not in ("png", "csv"):
        return file
    return report(file, "../report/caption.rst", category="{paper}", labels={"name": "{artifact}", "file": suffix})
