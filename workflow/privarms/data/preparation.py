"""Preparation of a dataset: from its raw files, or its stand-in, to contexts and an account of dropped rows.

A dataset is a module of this package, with its own name or with the `module` of its entry in sources.yaml:
  OPTIONS: dict, the allowed values of each option, the default first
  read(files, options) -> Table, from {name: binary stream} of the raw files
  generate() -> {name: iterable of lines without line ends} in the same layout, always identical: the synthetic stand-in
A dataset whose entry has a `table`, which describes the columns of one file, needs no module: `own_table` reads it.
"""

import importlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from privarms.data.features import Table
from privarms.data.reduction import DIMENSIONS, REDUCTIONS, reduce
from privarms.data.sources import Dataset, verify
from privarms.errors import PrivarmsError, check_known
from privarms.files import parquet
from privarms.files.whole import write_text


def prepare(
    dataset: Dataset,
    raw_files: Sequence[Path | str] | None,
    parquet_path: Path | str,
    json_path: Path | str,
    lines: int | None = None,
) -> dict:
    """Prepare a dataset, write its Parquet and JSON files, and return the content of the JSON file.

    raw_files: the dataset's files in the order of sources.yaml, verified first; None for the generated stand-in
    lines: how many lines of each file of a stand-in are used, without regard to `at_most` (default: all)

    Raises PrivarmsError for an unknown option, a wrong checksum, a malformed file, a folder that is not writable, and
    data that make no bandit (one label, no target, a source without rows). Then neither file is touched.
    """
    module = importlib.import_module(f"privarms.data.{dataset.module}")
    # Without sources there are no auxiliary rows for the fit.
    reductions = REDUCTIONS if dataset.table is None or dataset.table.source else ("pca_all",)
    chosen = choose_options(dataset.name, {**module.OPTIONS, "reduction": reductions}, dataset.options)
    checksums = {}
    with ExitStack() as stack:
        if raw_files is None:
            streams = {name: _stream(islice(text, lines)) for name, text in module.generate().items()}
            dataset = dataset._replace(at_most={}) if lines else dataset
        else:
            files = list(zip(dataset.files, raw_files, strict=True))
            checksums = {file.name: verify(file, path) for file, path in files}
            streams = {file.name: stack.enter_context(open(path, "rb")) for file, path in files}
        try:
            table = module.read(streams, dataset.table or chosen)
            if raw_files is not None:
                _check_counts(dataset, table)
        except PrivarmsError as error:
            if raw_files is None:
                raise
            places = ", ".join(map(str, raw_files))
            # A run fetches no file that is in place.
            again = "; a run gets it again if you delete it" if any(file.url for file in dataset.files) else ""
            raise PrivarmsError(f"{error} (read from {places}{again})") from error
    table, left_out = _first_rows(table, dataset.at_most)
    _check_usable(dataset.name, table)
    table = table._replace(remarks=(*table.remarks, *_fewer_than_asked(dataset, table)))
    contexts, reduction = reduce(table.features, table.sources, chosen["reduction"])
    if not any(reduction["explained_variance"]):
        raise PrivarmsError(f"{dataset.name}: no feature varies among the {reduction['fitted_rows']:,} rows of the fit")
    facts = _facts(dataset, table, left_out, reduction, chosen, checksums)
    columns = {f"x{j + 1}": contexts[:, j] for j in range(contexts.shape[1])}
    prepared = pa.table({**columns, "label": table.labels, "source": table.sources})
    parquet.write(parquet_path, [prepared], {"facts": facts, **parquet.origin()})
    write_text(json_path, json.dumps(facts, indent=2) + "\n")
    return facts


def _stream(lines: Iterable[str]) -> io.BytesIO:
    stream = io.BytesIO()
    stream.writelines(f"\n{line}".encode() if number else line.encode() for number, line in enumerate(lines))
    stream.seek(0)
    return stream


def choose_options(dataset: str, allowed: Mapping[str, Sequence[str]], options: Mapping[str, str]) -> dict[str, str]:
    """Return every option with its value, by default the first allowed one; PrivarmsError for an unknown option."""
    for key, value in options.items():
        check_known(f"{dataset}.options", "option", key, allowed)
        check_known(f"{dataset}.options.{key}", "value", value, allowed[key])
    return {key: options.get(key, values[0]) for key, values in allowed.items()}


def _check_counts(dataset: Dataset, table: Table) -> None:
    """Check the numbers of rows of each file (`rows`, dropped ones included) and of complete rows (`expected`)."""
    for file in dataset.files:
        rows = table.files[file.name]["rows"]
        if file.rows not in (None, rows):
            raise PrivarmsError(
                f"{file.name}: expected {file.rows:,} rows, found {rows:,}; the file is incomplete or another one; "
                f"get it again ({file.url or file.by_hand})"
            )
    of_target = int((table.sources == 0).sum())
    counts = {"target": of_target, "auxiliary": len(table.sources) - of_target}
    for part, rows in dataset.expected.items():
        if counts[part] != rows:
            raise PrivarmsError(
                f"{', '.join(file.name for file in dataset.files)}: expected {rows:,} complete {part} rows, found "
                f"{counts[part]:,}; these are not the published data; get the files again"
            )


def _first_rows(table: Table, at_most: Mapping[str, int]) -> tuple[Table, dict]:
    """Return at most `at_most` rows of the target and of all auxiliary sources, and the facts about the others."""
    if not at_most:
        return table, {}
    auxiliary = table.sources > 0
    kept = np.ones(len(auxiliary), bool)
    for part, rows in (("target", ~auxiliary), ("auxiliary", auxiliary)):
        kept &= ~rows | (np.cumsum(rows) <= at_most.get(part, len(rows)))
    beyond = {"target": int((~kept & ~auxiliary).sum()), "auxiliary": int((~kept & auxiliary).sum())}
    rows = np.flatnonzero(kept)
    first = table._replace(features=table.features.take(rows), labels=table.labels[rows], sources=table.sources[rows])
    return first, {"at_most": dict(at_most), "left_out_beyond": beyond}


def _fewer_than_asked(dataset: Dataset, table: Table) -> Iterator[str]:
    """Yield a remark for each part with fewer rows than `at_most` of a published dataset: its file may be cut."""
    of_target = int((table.sources == 0).sum())
    counts = {"target": of_target, "auxiliary": len(table.sources) - of_target}
    for part, rows in dataset.at_most.items() if dataset.table is None else ():
        if counts[part] < rows:
            yield f"{counts[part]:,} {part} rows, of the {rows:,} rows of `at_most`; check that the file is complete"


def _check_usable(name: str, table: Table) -> None:
    parts = ["the target", *(f"the source {source!r}" for source in table.source_names)]
    for part, rows in zip(parts, np.bincount(table.sources, minlength=len(parts)), strict=True):
        if rows == 0:
            raise PrivarmsError(f"{name}: no complete row belongs to {part}")
    labels = np.unique(table.labels[table.sources == 0])
    if len(labels) < 2:
        raise PrivarmsError(
            f"{name}: all rows of the target have the label {table.label_names[labels[0]]!r}; expected at least two "
            "labels, for a bandit with at least two arms"
        )
    if not table.features.names:
        raise PrivarmsError(f"{name}: no column is left as a feature; expected at least one")


def _facts(
    dataset: Dataset,
    table: Table,
    left_out: Mapping,
    reduction: Mapping,
    options: Mapping[str, str],
    checksums: Mapping[str, str],
) -> dict:
    """Return the facts about a prepared dataset; without checksums it is a stand-in."""
    files: dict[str, dict] = {
        file: ({"sha256": checksums[file]} if checksums else {}) | account for file, account in table.files.items()
    }
    rows, dropped = (sum(account[key] for account in files.values()) for key in ("rows", "dropped"))
    sizes = np.bincount(table.sources, minlength=len(table.source_names) + 1)

    def counts(labels: np.ndarray) -> list[int]:
        return np.bincount(labels, minlength=len(table.label_names)).tolist()

    return {
        "dataset": dataset.name,
        "data": "real" if checksums else "stand-in",
        "title": dataset.title if checksums else f"Synthetic stand-in for {dataset.title}",
        "licence": dataset.licence,
        "citation": dataset.citation,
        "options": dict(options),
        "rows": rows,
        "dropped": dropped,
        "complete": rows - dropped,
        **left_out,
        "files": files,
        "n_target": int(sizes[0]),
        "sources": len(table.source_names),
        "max_n_source": int(sizes[1:].max(initial=0)),
        "sum_n_source": int(sizes[1:].sum()),
        "source_names": list(table.source_names),
        "source_sizes": sizes[1:].tolist(),
        "K": len(table.label_names),
        "label_names": list(table.label_names),
        "label_counts": counts(table.labels),
        "target_label_counts": counts(table.labels[table.sources == 0]),
        "original_dimensions": len(table.features.names),
        "dimensions": min(DIMENSIONS, len(table.features.names)),
        "feature_names": table.features.names,
        "reduction": dict(reduction),
        **({"remarks": list(table.remarks)} if table.remarks else {}),
    }
