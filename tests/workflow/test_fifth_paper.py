"""A further paper is made of new files alone, and everything that is told of papers tells of it too."""

import csv
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow

PAPER = "fifth2026"
FILES = Path(__file__).with_name(PAPER)
PLACES = {
    "studies.yaml": f"tiny/studies/{PAPER}.yaml",
    "claims.yaml": f"tiny/claims/{PAPER}.yaml",
    "published.yaml": f"config/published/{PAPER}.yaml",
    "artifacts": f"workflow/privarms/artifacts/{PAPER}",
}


def git(folder, *arguments):
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.long
def test_a_paper_opens_no_old_door(small):
    # So that files that differ show.
    git(small.folder, "init", "--quiet")
    git(small.folder, "add", ".")
    git(small.folder, "-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--message", "before")
    for source, place in PLACES.items():
        target = small.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (FILES / source).is_dir() else shutil.copy2)(FILES / source, target)
    changed = git(small.folder, "status", "--porcelain", "--untracked-files=no")
    assert changed == ""

    small.complete()
    rows = {r["claim"]: r for r in csv.DictReader((small.folder / "results/quick/ledger.csv").open(encoding="utf-8"))}
    own = {name.removeprefix(f"{PAPER}/"): row for name, row in rows.items() if name.startswith(f"{PAPER}/")}
    # 200 x 20 pulls: the share of one of two arms is .5 to within .008, of one of three 1/3.
    assert own["half_of_the_pulls"]["verdict"] == "reproduced"
    assert own["half_of_the_pulls"]["published"] == "0.5"
    assert {name: row["verdict"] for name, row in own.items() if "all" in name} == {
        "all_of_the_pulls_of_2": "differs",
        "all_of_the_pulls_of_3": "differs",
    }
    assert float(own["all_of_the_pulls_of_3"]["reproduced"]) == pytest.approx(1 / 3, abs=0.03)
    drawn = (small.folder / f"results/quick/figures/{PAPER}/fig1.csv").read_text(encoding="utf-8").splitlines()
    assert drawn[0] == "K,mean,sem,size,low,high"
    assert "How Often Does a Bandit Explore?" in (small.folder / "results/quick/report.html").read_text(
        encoding="utf-8"
    )
    assert "fifth2026_fig1" in small.run("--list-rules").stdout
    assert git(small.folder, "status", "--porcelain", "--untracked-files=no") == ""
