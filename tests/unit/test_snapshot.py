"""README and the pages of the papers show the committed ledger in docs/results/."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def snapshot():
    specification = importlib.util.spec_from_file_location("snapshot", ROOT / "tools/snapshot.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def papers(snapshot):
    return snapshot.papers()


def test_readme_and_pages_are_those_of_the_committed_ledger(snapshot, papers):
    for file, text in snapshot.texts(papers).items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: run python tools/snapshot.py"


def test_readme_counts_every_statement_of_the_papers(snapshot, papers):
    statements = pd.read_csv(ROOT / "docs/results/statements.csv")
    lines = [line for line in snapshot.table(statements, papers).splitlines() if line.startswith("| [")]
    counts = [list(map(int, line.strip("| ").split(" | ")[1:])) for line in lines]
    assert len(counts) == 4
    assert all(row[0] == sum(row[1:]) > 0 for row in counts)
    assert sum(row[0] for row in counts) == (statements["whose"] == "paper").sum()
