"""The results that inference tables, figures and tables may read: only the files that they name."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from privarms.errors import PrivarmsError, UnnamedInputError
from privarms.files import parquet
from privarms.planning import paths
from privarms.planning import published as of_paper
from privarms.registry.modules import EnvironmentModule


def environment_of(row: Mapping | pd.Series):
    """Return the environment of a row of results, configured by the row's columns."""
    name = row["environment"]
    inputs = {k: row[k] for k in EnvironmentModule(name).arguments if k in row and pd.notna(row[k])}
    return EnvironmentModule(name).module.configure(**inputs)


class Results:
    """The results of one paper at one scale, read from the input files of a job.

    studies: files with one row per replicate, only for inference; cells: with one row per cell; inference: tables;
    facts: JSON about prepared datasets; published: values of the paper; audit: the table of all privacy audits, only
    for inference. Names come from the file names
    tags: cell -> the tags of its grids, for cells with a tag; an addition to a study has none
    """

    def __init__(
        self,
        paper: str,
        scale: str,
        *,
        studies: Iterable[str | Path] = (),
        cells: Iterable[str | Path] = (),
        inference: Iterable[str | Path] = (),
        facts: Iterable[str | Path] = (),
        published: Iterable[str | Path] = (),
        audit: Iterable[str | Path] = (),
        tags: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ):
        self.paper, self.scale = paper, scale
        inputs = {"studies": studies, "cells": cells, "inference": inference, "facts": facts, "audit": audit}
        self._files = {kind: {paths.named(f): Path(f) for f in files} for kind, files in inputs.items()}
        self._tags = tags
        self._published = {Path(f).name: Path(f) for f in published}
        self._read = cache(self._read_once)
        self._numbers = cache(of_paper.numbers)

    @property
    def studies(self) -> list[str]:
        """Return the studies with summaries of cells."""
        return list(self._files["cells"])

    def cells(self, study: str) -> pd.DataFrame:
        """Return one row per cell (and checkpoint or arm): parameters, means, standard errors, quantiles."""
        return self._read("cells", study)

    def has_tag(self, cells: pd.DataFrame, *tags: str) -> pd.Series:
        """Return whether each row's cell has one of the tags, or any tag if none is given."""
        found = [self._tags.get(cell, ()) for cell in cells["cell"]]
        return pd.Series([bool(set(tags).intersection(own) if tags else own) for own in found], cells.index, dtype=bool)

    def replicates(
        self,
        study: str,
        columns: tuple[str, ...] | None = None,
        filters: tuple[tuple[str, str, object], ...] | None = None,
    ) -> pd.DataFrame:
        """Return the rows per replicate (and checkpoint or arm) that satisfy all filters; only for inference."""
        return self._read("studies", study, columns, filters)

    def by_cell(self, study: str, columns: Sequence[str]) -> Iterator[tuple[pd.DataFrame, dict[str, np.ndarray]]]:
        """Yield, for each cell in the study's order, the first row of `replicates` and some columns of all its rows.

        For studies that are too long to be read as a whole.
        """
        return parquet.read_by("cell", self._file("studies", study), columns)

    def inference(self, name: str) -> pd.DataFrame:
        """Return an inference table of the paper."""
        return self._read("inference", name)

    def refuse_overwritten(self, table: str, rows: pd.DataFrame) -> None:
        """Raise PrivarmsError for a column of an inference table that has replaced a parameter of the cells.

        Such a column has the name of a parameter with numbers, and other numbers than the cells that the job reads.
        """
        for study, file in self._files["cells"].items():
            cells = self.cells(study)
            about = parquet.metadata(file).get("cells", ())
            set_by = {k for cell in about for k in (*cell["policy_parameters"], *cell["environment_parameters"])}
            for name in sorted(set_by & set(rows) & set(cells)):
                if not all(pd.api.types.is_numeric_dtype(some[name]) for some in (rows, cells)):
                    continue
                found, given = ({f"{value:.9g}" for value in some[name].dropna()} for some in (rows, cells))
                # A table may fill in the default of cells without the parameter, or have rows of other studies.
                if found and not found & given:
                    raise PrivarmsError(
                        f"{self.paper}: inference table {table}: the column {name!r} has the name of a parameter of "
                        f"{self.paper}/{study}, and none of its values ({', '.join(sorted(given))}). Expected the "
                        "parameter's values; give the computed column another name, or do not set the parameter"
                    )

    def audit(self) -> pd.DataFrame:
        """Return all privacy audits of the run, of all papers, with the columns of audit.csv; only for inference."""
        return pd.read_csv(self._file("audit", "audit"))

    def dataset(self, name: str) -> dict:
        """Return the facts about a prepared dataset: sizes, dropped rows, real or stand-in."""
        return json.loads(self._file("facts", name).read_text(encoding="utf-8"))

    def published(self, number: str) -> Any:
        """Return a number or a text of the paper, by its name in published/numbers.yaml."""
        numbers = self._numbers(self._published_file("numbers.yaml"))
        if number not in numbers:
            raise PrivarmsError(f"{self._published_file('numbers.yaml')}: no number {number!r}; add it")
        return numbers[number]

    def published_table(self, name: str, **options) -> pd.DataFrame:
        """Return a table that the paper prints or its authors released, published/<name>.csv."""
        return pd.read_csv(self._published_file(f"{name}.csv"), **options)

    def _published_file(self, name: str) -> Path:
        if name not in self._published:
            raise PrivarmsError(f"config/papers/{self.paper}/published: no file {name}; add it")
        return self._published[name]

    def _file(self, kind: str, name: str) -> Path:
        known = self._files[kind]
        if name not in known:
            key = {"inference": "inference", "audit": "audits"}.get(kind, "studies")
            inputs = ", ".join(known) or "none"
            reason = f"is read but not named; the job has {inputs}. Add it to the `{key}` of the function's decorator"
            raise UnnamedInputError(self.paper, f"{name} ({kind})", reason)
        return known[name]

    def _read_once(
        self,
        kind: str,
        name: str,
        columns: tuple[str, ...] | None = None,
        filters: tuple[tuple[str, str, object], ...] | None = None,
    ) -> pd.DataFrame:
        # Free each column after its conversion: two copies of a long study would be most of a job's memory.
        frame = parquet.read(self._file(kind, name), columns, filters).to_pandas(split_blocks=True, self_destruct=True)
        if kind == "cells":
            return frame.astype({c: object for c in frame.columns if frame[c].dtype == "category"})
        return frame
