"""Check the workflow as a module of another workflow that has its own rules."""

import shutil
import subprocess
import sys

import pytest

from tests import ROOT

from .conftest import copied, only

pytestmark = pytest.mark.workflow

SNAKEFILE = """\
module privarms:
    snakefile:
        "{project}/Snakefile"
    config:
        {{
            "scale": "tiny",
        }}

use rule * from privarms as privarms_*

rule mine:
    input:
        "results/tiny/figures/li2024/fig1.csv",
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
    header = (outer / "results/tiny/figures/li2024/fig1.csv").read_text(encoding="utf-8").splitlines()[0]
    assert (outer / "mine.txt").read_text(encoding="utf-8") == header + "\n"
    # Progress output belongs to the outer workflow, so it is Snakemake's own.
    assert "rule privarms_draw_figures:" in done.stderr
    assert "statements: " not in done.stderr
    assert not (project.folder / "results").exists()


def test_a_snakefile_in_a_remote_repository_is_one_clear_error(tmp_path):
    repository = tmp_path / "repository"
    shutil.copytree(ROOT / "workflow", repository / "workflow", ignore=shutil.ignore_patterns("privarms*", "schemas"))
    identity = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "all"], ["tag", "v1"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    (tmp_path / "Snakefile").write_text(
        f'module privarms:\n    snakefile: "git+file://{repository}/workflow/Snakefile@v1"\n'
        "use rule * from privarms as privarms_*\n"
    )
    command = [sys.executable, "-m", "snakemake", "-n", "--cores", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    printed = done.stdout + done.stderr
    assert f"git+file://{repository}: expected a folder, found an address. Clone the repository" in printed
    assert "Traceback" not in printed
