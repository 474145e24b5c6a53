"""Judge a paper's statements, or those about one artifact."""

from pathlib import Path

import pandas as pd

from privarms.files import parquet
from privarms.files.whole import read_csv
from privarms.ledger import cases, files
from privarms.planning.statements import Statement
from privarms.runner.job import job

with job(snakemake):
    tables = {Path(file).stem: file for file in snakemake.input.inference}
    printed = {Path(file).stem: file for file in snakemake.input.printed}
    rows = []
    given = (snakemake.params.statements, snakemake.params.data, snakemake.params.complete)
    for entry, (data, reason), complete in zip(*given, strict=True):
        statement = Statement(**entry)
        table = reason or (parquet.read(tables[statement.table]).to_pandas() if statement.table else pd.DataFrame())
        lines = []
        if "table" in statement.published:
            names, texts = read_csv(Path(printed[statement.published["table"]]))
            lines = [dict(zip(names, line, strict=True)) for line in texts]
        about = {"tags": snakemake.params.tagged, "shrunk": snakemake.params.shrunk, "data": data}
        rows += cases.judged(statement, table, printed=lines, complete=complete, **about)
    files.write(rows, snakemake.output[0], cases.COLUMNS)
