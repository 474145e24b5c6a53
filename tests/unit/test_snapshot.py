"""README and the pages of the papers show the committed ledger in docs/results/."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from tests import ROOT


@pytest.fixture(scope="module")
def snapshot():
    specification = importlib.util.spec_from_file_location("snapshot", ROOT / "tools/snapshot.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def papers(snapshot):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIVARMS_DATASETS", "")  # which the plan sets; it is gone afterwards
        return snapshot.papers()


def test_readme_and_pages_are_those_of_the_committed_ledger(snapshot, papers):
    for file, text in snapshot.texts(papers).items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: run python tools/snapshot.py"


def test_readme_counts_every_statement_of_the_papers(snapshot, papers):
    statements = pd.read_csv(ROOT / "docs/results/statements.csv")
    own = statements[statements["whose"] == "paper"].groupby("paper").size()
    readme = snapshot.texts(papers)[snapshot.README]
    lines = [line for line in readme.splitlines() if line.startswith("| [")]
    assert len(lines) == 4
    for line in lines:
        name, *counts = line.strip("| ").split(" | ")
        total, *parts = map(int, counts)
        assert total == sum(parts) == own[Path(name.rstrip(")")).stem]
