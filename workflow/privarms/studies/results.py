"""The results that inference tables, figures, tables and claims may read: only the files that they name."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from privarms.errors import NoCellsError, PrivarmsError, UnnamedInputError
from privarms.files import parquet, settings
from privarms.studies import library, paths

Over = Mapping[str, list] | list[Mapping[str, list]]
"""The rows that a claim uses: columns with their allowed values; or several such mappings."""


def environment_of(row: Mapping):
    """Return the environment of a row of results, configured by the row's columns."""
    name = row["environment"]
    inputs = {k: row[k] for k in library.environment_arguments(name) if k in row and pd.notna(row[k])}
    return library.load("environments", name).configure(**inputs)


class Results:
    """The results of one paper at one scale, read from the input files of a job.

    studies: files with one row per replicate, only for inference; cells: with one row per cell; inference: tables;
    facts: JSON about prepared datasets; published: values of the paper; audit: the table of all privacy audits, only
    for inference. Names come from the file names. tagged: tag -> its cells, by the columns of their studies, and
    `changed`; only for claims
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
        tagged: Mapping[str, Sequence[Mapping]] | None = None,
    ):
        self.paper, self.scale = paper, scale
        inputs = {"studies": studies, "cells": cells, "inference": inference, "facts": facts, "audit": audit}
        self._files = {kind: {paths.named(f): Path(f) for f in files} for kind, files in inputs.items()}
        self._published = {Path(f).name: Path(f) for f in published}
        self._tagged = tagged or {}
        self._over: list[tuple[Mapping[str, list], pd.DataFrame | None]] = []
        self._views: dict[str, Results] = {}
        # The columns that views have used for filters, shared by all views.
        self._met: set[str] = set()
        self._read = cache(self._read_once)

    def only(self, over: Over, named: Iterable[str] = ()) -> "Results":
        """Return a filtered view of the results; views are cached.

        over: columns with their allowed values, and `tag` with names of sets of cells; or several such mappings, of
        which a row must match at least one. Rows without a value in a column are kept; a table without the column is
        not filtered
        named: further parameters of the claim; cells with another parameter not at its default are dropped
        """
        if not over:
            return self
        key = json.dumps([over, sorted(named)], sort_keys=True)
        if key not in self._views:
            view = object.__new__(Results)
            sets = over if isinstance(over, list) else [over]
            cells = [self._tagged_cells(one["tag"], {*one, *named}) if "tag" in one else None for one in sets]
            view.__dict__ = self.__dict__ | {"_over": list(zip(sets, cells, strict=True)), "_views": {}}
            view._read = cache(lambda kind, name, *some: view._restricted(self._read(kind, name, *some), name))
            self._views[key] = view
        return self._views[key]

    def _tagged_cells(self, tags: Sequence[str], named: set[str]) -> pd.DataFrame:
        """Return the cells of some tags whose unnamed parameters have their defaults, one row each."""
        cells = [cell for tag in tags for cell in self._tagged[tag] if named.issuperset(cell["changed"])]
        return pd.DataFrame(cells).drop(columns=[*named, "changed"], errors="ignore")

    def refuse_unmet(self, claims: Iterable[Mapping]) -> None:
        """Raise PrivarmsError for a column in `over` that no table had, because the claim would use all rows."""
        for claim in claims:
            sets = claim["over"] if isinstance(claim["over"], list) else [claim["over"]]
            for column in {c for over in sets for c in over} - self._met - {"tag"}:
                if "measure" in claim and not library.is_parameter(column):
                    raise PrivarmsError(
                        f"config/papers/{self.paper}/claims.yaml: {claim['claim']}.over: no table that was read has a "
                        f"column {column!r}, and no parameter has this name; correct the name"
                    )

    @property
    def studies(self) -> list[str]:
        """Return the studies with summaries of cells."""
        return list(self._files["cells"])

    def cells(self, study: str) -> pd.DataFrame:
        """Return one row per cell (and checkpoint or arm): parameters, means, standard errors, quantiles."""
        return self._read("cells", study)

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

        For studies that are too long to be read as a whole. Views do not filter the cells.
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
                found, given = ({key for key in _keys(some[name]) if key is not None} for some in (rows, cells))
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

    def published(self, number: str) -> float | str:
        """Return a number of the paper, by its name in published/numbers.yaml."""
        numbers = settings.read(self._published_file("numbers.yaml"))
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
            reason = f"is read but not named; the job has {inputs}. Add it to the `{key}` of the function that reads it"
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

    def _restricted(self, frame: pd.DataFrame, name: str) -> pd.DataFrame:
        self._met |= {column for one, _ in self._over for column in one if column in frame}
        chosen = np.any([_fits(frame, *one) for one in self._over], axis=0)
        if len(frame) and not chosen.any():
            wanted = " or ".join(
                "; ".join(f"{k} {', '.join(map(str, v))}" for k, v in one.items()) for one, _ in self._over
            )
            sets = [one for one, _ in self._over]
            tagged = [cell for one in sets for tag in one.get("tag", ()) for cell in self._tagged.get(tag, ())]
            changed = sorted({p for cell in tagged for p in cell["changed"]} - {p for one in sets for p in one})
            hint = f"; cells of this tag change {', '.join(changed)}, so name these in `over`" if changed else ""
            raise NoCellsError(f"none of the cells of {name} that the claim uses is in this run: {wanted}{hint}")
        return frame[chosen]


def _fits(frame: pd.DataFrame, over: Mapping[str, list], cells: pd.DataFrame | None) -> np.ndarray:
    """Return which rows have an allowed value, or none, in every column, and belong to a cell of `cells` if given."""
    chosen = np.ones(len(frame), bool)
    for column, values in over.items():
        if column in frame and column != "tag":
            chosen &= frame[column].isna().to_numpy() | among(frame[column], values)
    return chosen if cells is None else chosen & _of_cells(frame, cells, over)


def _of_cells(frame: pd.DataFrame, cells: pd.DataFrame, named: Iterable[str]) -> list[bool]:
    """Return which rows agree with a cell in every parameter; a missing value agrees with any."""
    columns = [c for c in frame if c in cells and c not in named]
    if not columns or len(cells) == 0:
        return [len(cells) > 0] * len(frame)
    known = list(zip(*(_keys(cells[c]) for c in columns), strict=True))

    @cache
    def with_values(places: tuple[int, ...]) -> set[tuple]:
        return {tuple(cell[i] for i in places) for cell in known}

    @cache
    def agrees(row: tuple) -> bool:
        places = tuple(i for i, key in enumerate(row) if key is not None)
        return tuple(row[i] for i in places) in with_values(places)

    return [agrees(row) for row in zip(*(_keys(frame[c]) for c in columns), strict=True)]


def _keys(column: pd.Series) -> list[str | None]:
    """Return the values as texts, numbers to nine digits; None for missing values."""
    return [None if pd.isna(value) else _key(value) for value in column]


def _key(value) -> str:
    try:
        return f"{float(value):.9g}"
    except ValueError:
        return str(value)


def among(column: pd.Series, values: Sequence) -> np.ndarray:
    """Return which entries are one of the values.

    "" matches a missing value, numbers are compared to nine digits, and one matching panel of a cell is enough.
    """
    if column.name == "panels":
        return np.array([bool(set(str(names).split()) & set(values)) for names in column], bool)
    chosen = column.isna().to_numpy() if "" in values else np.zeros(len(column), bool)
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        numbers = column.to_numpy(float)
        return chosen | np.any(
            [np.isclose(numbers, v, rtol=1e-9, atol=0) for v in values if not isinstance(v, str)] or [chosen], 0
        )
    return chosen | column.astype(str).isin([str(v) for v in values]).to_numpy()
