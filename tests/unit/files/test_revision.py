"""Check the revision that files of results name: that of the project's own repository, or none."""

import os
import shutil
import subprocess
import sys

import pytest

from tests import ROOT

PRIVATE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
NAMED = {f"GIT_{who}_{what}": "a@b.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ASK = "from privarms.files import parquet, revision; print(parquet.origin()['revision'], revision.why_unknown())"


def git(folder, *words):
    done = subprocess.run(["git", *words], cwd=folder, env=os.environ | PRIVATE | NAMED, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def repository(folder):
    """Make a repository with all files of a folder, and return its revision."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def project(tmp_path):
    """Return an unpacked project, as far as it writes files, below a folder of the user."""
    folder = tmp_path / "thesis/privarms"
    library = folder / "workflow/privarms"
    shutil.copytree(ROOT / "workflow/privarms/files", library / "files", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "errors.py"):
        shutil.copy(ROOT / "workflow/privarms" / name, library)
    return folder


def answer(project, **variables):
    """Return the revision in the files of a project's library, and why it is unknown."""
    environment = os.environ | {"PYTHONPATH": str(project / "workflow"), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=True)
    revision, _, reason = done.stdout.strip().partition(" ")
    return revision, reason


def test_an_unpacked_project_has_no_revision_even_in_the_repository_of_a_thesis(project):
    assert answer(project) == ("unknown", "None")
    thesis = repository(project.parent)
    assert answer(project) == ("unknown", "None")
    assert answer(project, GIT_DIR=str(project.parent / ".git")) == ("unknown", "None")
    assert thesis


def test_a_clone_has_its_own_revision_whatever_a_hook_has_set(project):
    own, other = repository(project), repository(project.parent / "other")
    assert own != other
    assert answer(project) == (own, "None")
    hook = {"GIT_DIR": str(project.parent / "other/.git"), "GIT_WORK_TREE": str(project.parent / "other")}
    assert answer(project, **hook) == (own, "None")
    (project / "workflow/privarms/errors.py").open("a").write("\n")
    assert answer(project, **hook) == (f"{own}-dirty", "None")


def test_a_repository_that_git_cannot_read_is_unknown_with_git_s_reason(project):
    (project / ".git").write_text("gitdir: /nowhere\n", encoding="utf-8")
    revision, reason = answer(project)
    assert revision == "unknown"
    assert "/nowhere" in reason
