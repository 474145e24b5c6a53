"""From a dataset's raw files, or its stand-in, to the prepared form and the account of what was dropped and why.

A dataset is a module of its own name beside this one with
  OPTIONS: dict, the allowed values of each of its options, the default first
  read(lines, options) -> Table, from the lines of each raw file
  generate() -> dict, the lines of raw files of the same layout, always the same ones: the synthetic stand-in
"""

import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from privarms.data.sources import Dataset, verify
from privarms.errors import PrivarmsError
from privarms.files import write_text
from privarms.studies import store

DIMENSIONS = 3
REDUCTIONS = ("pca_auxiliary", "pca_all")


class Table(NamedTuple):
    """A dataset before its reduction: complete rows in the order of the files.

    features: float64[n, p]; feature_names: p names; labels: int64[n], an index into label_names;
    sources: int64[n], 0 for the target and m for source_names[m - 1]; report: what was read and dropped, per file
    """

    features: np.ndarray
    feature_names: list[str]
    labels: np.ndarray
    label_names: list[str]
    sources: np.ndarray
    source_names: list[str]
    report: dict


def prepare(
    dataset: Dataset,
    raw_files: Sequence[Path | str] | None,
    parquet_path: Path | str,
    json_path: Path | str,
    options: Mapping[str, str] | None = None,
) -> dict:
    """Prepare a dataset, write its Parquet and its JSON, and return what the JSON says.

    raw_files: the dataset's files in the order of sources.yaml, verified first; None for the generated stand-in
    options: `reduction` (one of REDUCTIONS) and the dataset module's own OPTIONS

    Raises PrivarmsError for an unknown dataset, option or value, a wrong checksum, a malformed row, or a folder that
    cannot be written; then neither file is touched.
    """
    module = _module(dataset.name)
    chosen = choose_options(dataset.name, module.OPTIONS, options or {})
    if raw_files is None:
        table = module.read(module.generate(), chosen)
    else:
        table = _read_files(module, dataset, raw_files, chosen)
    _refuse_unusable(dataset.name, table)
    contexts, reduction = reduce(table.features, table.sources, chosen["reduction"])
    facts = _facts(dataset, table, reduction, chosen, stand_in=raw_files is None)
    columns = {f"x{j + 1}": contexts[:, j] for j in range(contexts.shape[1])}
    prepared = pa.table({**columns, "label": table.labels, "source": table.sources})
    store.write(parquet_path, [prepared], {"facts": facts, **store.origin()})
    write_text(json_path, json.dumps(facts, indent=2) + "\n")
    return facts


def choose_options(dataset: str, own: Mapping[str, Sequence[str]], given: Mapping[str, str]) -> dict[str, str]:
    """Every option with its chosen value, the default where none is given; PrivarmsError for an unknown one."""
    allowed = {**own, "reduction": REDUCTIONS}
    for key, value in given.items():
        if key not in allowed:
            raise PrivarmsError(f"{dataset}.{key}: unknown option; expected one of {', '.join(sorted(allowed))}")
        if value not in allowed[key]:
            raise PrivarmsError(f"{dataset}.{key}: expected one of {', '.join(allowed[key])}; found {value!r}")
    return {key: given.get(key, values[0]) for key, values in allowed.items()}


def reduce(features: np.ndarray, sources: np.ndarray, method: str) -> tuple[np.ndarray, dict]:
    """Contexts float64[n, 3] in [0, 1] from features float64[n, p], and how much they keep.

    Standardise, project on the first three principal components, scale by minimum and maximum, clip. Everything is
    estimated on the auxiliary rows (`pca_auxiliary`, so that nothing about the target's users is used) or on all rows
    (`pca_all`).
    """
    fitted = sources > 0 if method == "pca_auxiliary" else np.ones(len(sources), bool)
    # More threads add in another order, and the bytes must not depend on the number of cores.
    with threadpool_limits(limits=1):
        scaler = StandardScaler().fit(features[fitted])
        pca = PCA(DIMENSIONS, svd_solver="full").fit(scaler.transform(features[fitted]))
        scores = pca.transform(scaler.transform(features)) * _signs(pca.components_)
    low, high = scores[fitted].min(axis=0), scores[fitted].max(axis=0)
    scaled = (scores - low) / np.where(high > low, high - low, 1.0)
    contexts = np.clip(scaled, 0.0, 1.0)
    target = sources == 0
    return contexts, {
        "fitted_rows": int(fitted.sum()),
        "explained_variance": [round(float(r), 6) for r in pca.explained_variance_ratio_],
        "clipped_target_rows": int((scaled != contexts)[target].any(axis=1).sum()),
    }


def _signs(components: np.ndarray) -> np.ndarray:
    """+1 or -1 for each component, so that its largest loading is positive.

    Two levels of one column have loadings of the same size and opposite signs; of loadings that are equal but for
    rounding the first decides.
    """
    sizes = np.abs(components)
    leading = (sizes >= sizes.max(axis=1, keepdims=True) * (1 - 1e-6)).argmax(axis=1)
    return np.where(components[np.arange(len(components)), leading] < 0, -1.0, 1.0)


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(f"privarms.data.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"privarms.data.{name}":
            raise
        raise PrivarmsError(
            f"{name}: unknown dataset; expected a module workflow/privarms/data/{name}.py that can read it"
        ) from None


def _read_files(
    module: ModuleType, dataset: Dataset, raw_files: Sequence[Path | str], options: Mapping[str, str]
) -> Table:
    if len(raw_files) != len(dataset.files):
        names = ", ".join(f.name for f in dataset.files)
        raise PrivarmsError(f"{dataset.name}: expected {len(dataset.files)} raw files ({names}), got {len(raw_files)}")
    with ExitStack() as open_files:
        lines: dict[str, Iterable[str]] = {}
        for file, path in zip(dataset.files, raw_files, strict=True):
            verify(file, path)
            lines[file.name] = open_files.enter_context(open(path, encoding="utf-8", newline=None))
        try:
            return module.read(lines, options)
        except UnicodeDecodeError as error:
            raise PrivarmsError(f"{dataset.name}: a raw file is not UTF-8 text ({error})") from error


def _refuse_unusable(name: str, table: Table) -> None:
    n_target = int((table.sources == 0).sum())
    n_auxiliary = len(table.sources) - n_target
    if n_target == 0:
        raise PrivarmsError(f"{name}: no complete row belongs to the target")
    if n_auxiliary <= DIMENSIONS:
        raise PrivarmsError(
            f"{name}: {n_auxiliary} complete auxiliary rows; expected more than {DIMENSIONS} to reduce from"
        )
    if table.features.shape[1] < DIMENSIONS:
        raise PrivarmsError(f"{name}: {table.features.shape[1]} features; expected at least {DIMENSIONS}")


def _facts(dataset: Dataset, table: Table, reduction: Mapping, options: Mapping[str, str], stand_in: bool) -> dict:
    checksums = {} if stand_in else {file.name: {"sha256": file.sha256} for file in dataset.files}
    read = {file: {**checksums.get(file, {}), **account} for file, account in table.report["files"].items()}
    sizes = np.bincount(table.sources, minlength=len(table.source_names) + 1)
    return {
        "dataset": dataset.name,
        "data": "stand-in" if stand_in else "real",
        "title": f"Synthetic stand-in for {dataset.title}" if stand_in else dataset.title,
        "licence": dataset.licence,
        "citation": dataset.citation,
        "options": dict(options),
        **table.report,
        "files": read,
        "n_target": int(sizes[0]),
        "sources": len(table.source_names),
        "max_n_source": int(sizes[1:].max()),
        "sum_n_source": int(sizes[1:].sum()),
        "source_names": list(table.source_names),
        "source_sizes": [int(s) for s in sizes[1:]],
        "K": len(table.label_names),
        "label_names": list(table.label_names),
        "label_counts": _counts(table.labels, table),
        "target_label_counts": _counts(table.labels[table.sources == 0], table),
        "original_dimensions": table.features.shape[1],
        "dimensions": DIMENSIONS,
        "feature_names": list(table.feature_names),
        "reduction": dict(reduction),
    }


def _counts(labels: np.ndarray, table: Table) -> list[int]:
    return [int(c) for c in np.bincount(labels, minlength=len(table.label_names))]
