"""The library has no circle of imports between studies, claims and report."""

import re
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / "workflow" / "privarms"


@pytest.mark.parametrize(
    ("importing", "imported"),
    [("studies", "report"), ("studies", "claims"), ("claims", "studies"), ("claims", "report")],
)
def test_no_circle_of_imports(importing, imported):
    words = re.compile(rf"(?:from|import) privarms\.{imported}\b|from privarms import .*\b{imported}\b")
    files = sorted((LIBRARY / importing).glob("*.py"))
    assert files
    assert [file.name for file in files if words.search(file.read_text(encoding="utf-8"))] == []
