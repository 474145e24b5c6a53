"""The datasets of the project, and their raw files if they are on this machine."""

import os

import pytest

from privarms.data import sources
from tests import ROOT

SOURCES = sources.load_sources(ROOT / "data/sources.yaml")


def real_files(dataset):
    """Return the raw files of a dataset, from the mirror or from data/raw."""
    for folder in (os.environ.get(sources.MIRROR_VARIABLE) or "nowhere", ROOT / "data/raw"):
        paths = [sources.raw_path(dataset, file, folder) for file in dataset.files]
        if all(path.is_file() for path in paths):
            return paths
    pytest.skip(f"the files of {dataset.name} are neither in {sources.MIRROR_VARIABLE} nor in data/raw")
