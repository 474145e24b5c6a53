"""Check the workflow as a module of another workflow that has its own rules."""

import subprocess
import sys

import pytest

from .conftest import copied, only

pytestmark = pytest.mark.workflow

SNAKEFILE = """\
module privarms:
    snakefile:
        "{project}/Snakefile"
    config:
        {{
            "scale": "quick",
            "papers": "{project}/tiny/papers",
            "sources": "{project}/tiny/sources.yaml",
        }}

use rule * from privarms as privarms_*

rule mine:
    input:
        "results/quick/figures/li2024/fig1.csv",
    output:
        "mine.txt",
    default_target: True
    shell:
        "head -1 {{input}} > {{output}}"
"""


def test_another_workflow_uses_its_rules(template, tmp_path):
    project = only(copied(template, tmp_path / "project"), "li2024")
    outer = tmp_path / "outer"
    outer.mkdir()
    (outer / "Snakefile").write_text(SNAKEFILE.format(project=project.folder), encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    done = subprocess.run(command, cwd=outer, env=project.environment(), capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    header = (outer / "results/quick/figures/li2024/fig1.csv").read_text(encoding="utf-8").splitlines()[0]
    assert (outer / "mine.txt").read_text(encoding="utf-8") == header + "\n"
    # Progress output belongs to the outer workflow, so it is Snakemake's own.
    assert "rule privarms_draw_figures:" in done.stderr
    assert "statements: " not in done.stderr
    assert not (project.folder / "results").exists()
