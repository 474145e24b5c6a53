"""From a dataset's raw files, or its stand-in, to the prepared form and the account of what was dropped and why.

A dataset is a module beside this one, of its own name or of the one that its entry in sources.yaml gives, with
  OPTIONS: dict, the allowed values of each of its options, the default first
  read(files, options) -> Table, from {name: binary stream} of the raw files
  generate() -> {name: lines without their ends} of the same layout, always the same ones: the synthetic stand-in
or it is one file whose columns its entry describes (`table`, see `own_table`); that needs no module.
"""

import importlib
import io
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from privarms.data import own_table
from privarms.data.features import Table
from privarms.data.reduction import DIMENSIONS, REDUCTIONS, reduce
from privarms.data.sources import Dataset, missing_message, verify
from privarms.errors import PrivarmsError
from privarms.files import parquet
from privarms.files.whole import write_text


def prepare(
    dataset: Dataset,
    raw_files: Sequence[Path | str] | None,
    parquet_path: Path | str,
    json_path: Path | str,
    options: Mapping[str, str] | None = None,
) -> dict:
    """Prepare a dataset, write its Parquet and its JSON, and return what the JSON says.

    raw_files: the dataset's files in the order of sources.yaml, verified first; None for the generated stand-in
    options: `reduction` (one of REDUCTIONS) and the dataset module's own OPTIONS, before those of sources.yaml

    Raises PrivarmsError for an unknown dataset, option or value, a wrong checksum, a malformed file, data that make no
    bandit (one label, no target, a source without rows), or a folder that cannot be written; then neither file is
    touched.
    """
    given = {**dataset.options, **(options or {})}
    checksums = {}
    if raw_files is not None:
        checksums = {f.name: verify(f, path) for f, path in zip(dataset.files, raw_files, strict=True)}
    if dataset.table is None:
        module = importlib.import_module(f"privarms.data.{dataset.module}")
        chosen = choose_options(dataset.name, {**module.OPTIONS, "reduction": REDUCTIONS}, given)
        with ExitStack() as stack:
            table = module.read(_streams(stack, module, dataset, raw_files), chosen)
    else:
        chosen = choose_options(dataset.name, {"reduction": own_table.reductions(dataset.table)}, given)
        if raw_files is None:
            raise PrivarmsError(f"{missing_message(dataset)} There is no stand-in for it.")
        with open(raw_files[0], "rb") as stream:
            table = own_table.read(dataset.files[0].name, stream, dataset.table)
    if raw_files is not None:
        _check_row_counts(dataset, table)
    table, left_out = _first_rows(table, dataset.at_most)
    _check_usable(dataset.name, table, chosen["reduction"])
    contexts, reduction = reduce(table.features, table.sources, chosen["reduction"])
    if not any(reduction["explained_variance"]):
        raise PrivarmsError(f"{dataset.name}: no feature varies among the {reduction['fitted_rows']:,} rows to fit on")
    facts = _facts(dataset, table, left_out, reduction, chosen, checksums)
    columns = {f"x{j + 1}": contexts[:, j] for j in range(contexts.shape[1])}
    prepared = pa.table({**columns, "label": table.labels, "source": table.sources})
    parquet.write(parquet_path, [prepared], {"facts": facts, **parquet.origin()})
    write_text(json_path, json.dumps(facts, indent=2) + "\n")
    return facts


def choose_options(dataset: str, allowed: Mapping[str, Sequence[str]], given: Mapping[str, str]) -> dict[str, str]:
    """Every option with its chosen value, the default where none is given; PrivarmsError for an unknown one."""
    for key, value in given.items():
        if key not in allowed:
            raise PrivarmsError(f"{dataset}.{key}: unknown option; expected one of {', '.join(sorted(allowed))}")
        if value not in allowed[key]:
            raise PrivarmsError(f"{dataset}.{key}: expected one of {', '.join(allowed[key])}; found {value!r}")
    return {key: given.get(key, values[0]) for key, values in allowed.items()}


def _streams(
    stack: ExitStack, module: ModuleType, dataset: Dataset, raw_files: Sequence[Path | str] | None
) -> dict[str, BinaryIO]:
    if raw_files is None:
        return {name: io.BytesIO("\n".join(lines).encode()) for name, lines in module.generate().items()}
    return {
        file.name: stack.enter_context(open(path, "rb")) for file, path in zip(dataset.files, raw_files, strict=True)
    }


def _check_row_counts(dataset: Dataset, table: Table) -> None:
    """PrivarmsError where a file has not as many rows, those that are dropped included, as `rows` says."""
    for file in dataset.files:
        found = table.files[file.name]["rows"]
        if file.rows is not None and found != file.rows:
            raise PrivarmsError(
                f"{file.name}: expected {file.rows:,} rows, found {found:,}: it was cut or is another file; "
                f"get it again ({file.url or file.by_hand})"
            )


def _first_rows(table: Table, at_most: Mapping[str, int]) -> tuple[Table, dict]:
    """Return the first rows of the target and of all auxiliary sources, as many as `at_most` says, and what is left
    out, for the facts."""
    if not at_most:
        return table, {}
    auxiliary = table.sources > 0
    kept = np.ones(len(auxiliary), bool)
    beyond = {}
    for part, rows in (("target", ~auxiliary), ("auxiliary", auxiliary)):
        out = rows & (np.cumsum(rows) > at_most.get(part, len(rows)))
        kept &= ~out
        beyond[part] = int(out.sum())
    rows = np.flatnonzero(kept)
    first = table._replace(features=table.features.take(rows), labels=table.labels[rows], sources=table.sources[rows])
    return first, {"at_most": dict(at_most), "left_out_beyond": beyond}


def _check_usable(name: str, table: Table, reduction: str) -> None:
    sizes = np.bincount(table.sources, minlength=len(table.source_names) + 1)
    if sizes[0] == 0:
        raise PrivarmsError(f"{name}: no complete row belongs to the target")
    for source, size in zip(table.source_names, sizes[1:], strict=True):
        if size == 0:
            raise PrivarmsError(f"{name}: no complete row belongs to the source {source!r}")
    labels = np.unique(table.labels[table.sources == 0])
    if len(labels) < 2:
        raise PrivarmsError(
            f"{name}: all {sizes[0]:,} rows of the target have the label {table.label_names[labels[0]]!r}; "
            "expected at least two labels, for a bandit with at least two arms"
        )
    if reduction == "pca_auxiliary" and sizes[1:].sum() <= DIMENSIONS:
        raise PrivarmsError(
            f"{name}: {sizes[1:].sum()} complete auxiliary rows; expected more than {DIMENSIONS} to reduce from"
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
    """What is known of a prepared dataset; without checksums it is a stand-in."""
    files = {
        file: ({"sha256": checksums[file]} if checksums else {}) | account for file, account in table.files.items()
    }
    rows, dropped = (sum(account[key] for account in files.values()) for key in ("rows", "dropped"))
    sizes = np.bincount(table.sources, minlength=len(table.source_names) + 1)
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
        "source_sizes": [int(s) for s in sizes[1:]],
        "K": len(table.label_names),
        "label_names": list(table.label_names),
        "label_counts": _counts(table.labels, table),
        "target_label_counts": _counts(table.labels[table.sources == 0], table),
        "original_dimensions": len(table.features.names),
        "dimensions": min(DIMENSIONS, len(table.features.names)),
        "feature_names": table.features.names,
        "reduction": dict(reduction),
    }


def _counts(labels: np.ndarray, table: Table) -> list[int]:
    return [int(c) for c in np.bincount(labels, minlength=len(table.label_names))]
