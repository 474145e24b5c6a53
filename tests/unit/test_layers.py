"""Check that the packages of the library have no circular imports."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

from tests import ROOT

IMPORT = re.compile(r"^\s*(?:from|import) privarms(?:\.| import )(\w+)", re.MULTILINE)


def imported(package: Path) -> set[str]:
    """Return the packages that a package imports, including imports in functions."""
    files = package.rglob("*.py")
    return {name for file in files for name in IMPORT.findall(file.read_text(encoding="utf-8"))} - {package.name}


def test_no_circle_of_imports():
    packages = {file.parent.name: imported(file.parent) for file in (ROOT / "workflow/privarms").glob("*/__init__.py")}
    assert "ledger" in packages["studies"]
    # The sorter raises an error that names a circle.
    TopologicalSorter(packages).prepare()
