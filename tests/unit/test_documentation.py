"""`make docs`: a page for every public module."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from privarms.studies import library

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_every_public_module_has_a_page_and_its_links_lead_somewhere(tmp_path):
    folder = tmp_path / "api"
    command = [sys.executable, str(ROOT / "docs" / "build.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert (folder / "index.html").is_file()
    modules = [file.relative_to(library.ROOT).with_suffix("") for file in library.ROOT.rglob("*.py")]
    public = [m for m in modules if not any(part.startswith("_") for part in m.parts)]
    assert len(public) > 100
    assert [str(m) for m in public if not (folder / "privarms" / f"{m}.html").is_file()] == []
    first = (folder / "privarms.html").read_text(encoding="utf-8")
    assert "How each algorithm is simulated, and why that is exact" in first
    assert "How verdicts are made" in first
    for link in re.findall(r'href="(\.\.[^"#]*)', first):
        assert (folder / link).resolve().exists(), link
