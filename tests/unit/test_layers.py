"""The packages of the library import each other in no circle."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

LIBRARY = Path(__file__).parents[2] / "workflow" / "privarms"
IMPORT = re.compile(r"^\s*(?:from|import) privarms(?:\.| import )(\w+)", re.MULTILINE)


def imported(package: Path) -> set[str]:
    """The packages that the modules of a package import, also within functions."""
    files = package.rglob("*.py")
    return {name for file in files for name in IMPORT.findall(file.read_text(encoding="utf-8"))} - {package.name}


def test_no_circle_of_imports():
    packages = {file.parent.name: imported(file.parent) for file in LIBRARY.glob("*/__init__.py")}
    assert "studies" in packages["claims"]
    # A circle is an error of the sorter, which names it.
    TopologicalSorter(packages).prepare()
