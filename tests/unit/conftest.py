"""Fixtures of several unit tests."""

import os

import numpy as np
import pyarrow as pa
import pytest

from privarms.files import parquet
from privarms.registry import extensions


@pytest.fixture(autouse=True)
def restored_extensions(monkeypatch):
    """Let no test leave an extension in use: commands use one for the rest of their process."""
    monkeypatch.setenv(extensions.VARIABLE, os.environ.get(extensions.VARIABLE, ""))


def write(path, frame):
    """Write a frame as a Parquet file, and return its path."""
    parquet.write(path, [pa.Table.from_pandas(frame, preserve_index=False)], {})
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Write a prepared file: 60 target rows and the sources 1 and 2 with 5 and 3 rows, mixed."""
    rng = np.random.default_rng(0)
    source_of = rng.permutation(np.repeat([0, 1, 2], [60, 5, 3]))
    columns = {f"x{j}": rng.random(68) for j in (1, 2)}
    table = pa.table({**columns, "label": rng.integers(0, 3, 68), "source": source_of})
    path = tmp_path_factory.mktemp("prepared") / "toy.parquet"
    parquet.write(path, [table], {"facts": {"dimensions": 2, "K": 3, "sources": 2}})
    return path, table


@pytest.fixture
def styled():
    """Draw in the style of the figures, and close them afterwards."""
    # Most unit tests draw nothing, and these imports take a second.
    import matplotlib

    from privarms.plots import style

    with matplotlib.rc_context():
        style.use_style()
        yield
        matplotlib.pyplot.close("all")
