"""Check the example extension: its study, its policy next to published ones, and the jobs after an edit."""

import re
import shutil

import pytest

from tests import ROOT

from .conftest import Project, only

pytestmark = pytest.mark.workflow

# Like examples/my.yaml, with the study of the small project.
CONFIG = "extensions: [examples/my_bandits]\nadd:\n  us2026:\n    budgets: [{policy: private_halving}]\n"


def with_examples(project: Project) -> Project:
    """Return a project after the folder with the examples was copied to it."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "examples", project.folder / "examples", ignore=ignored)
    return project


@pytest.fixture
def extended(small) -> Project:
    """Return the small project with the example, which adds its policy to a study."""
    with_examples(small).write("my.yaml", CONFIG)
    return small


def edit(project, file, old, new):
    place = project.folder / "examples/my_bandits" / file
    text = place.read_text(encoding="utf-8")
    assert old in text
    place.write_text(text.replace(old, new), encoding="utf-8")


def test_the_example_s_configuration_adds_its_policy_to_a_published_figure(fresh):
    project = with_examples(only(fresh, "sajed2019"))
    planned = project.pending(configfiles=["examples/my.yaml"])
    assert any(output.startswith("results/tiny/shards/sajed2019/private_halving-") for output in planned)


@pytest.mark.long
def test_the_example_stands_beside_what_is_published(extended, small_made):
    extended.complete(configfiles=["my.yaml"])
    results = extended.folder / "results/tiny"
    made = {p.name for p in (results / "figures/mine").glob("*.png")}
    default = ("over_time", "quantiles", "ratios", "final")
    assert made == {f"{study}_{what}.png" for study in ("budgets", "smooth") for what in default}
    rows = extended.rows("tables/mine/budgets.csv")
    assert {r["policy"] for r in rows} == {"private_halving", "dp_se", "ucb1"}
    assert {r["measure"] for r in rows} == {"regret"}
    audited = {(r["subject"], r["claimed_epsilon"]) for r in extended.rows("audit.csv") if r["paper"] == "mine"}
    # The audit that fits any bandit also runs with a quarter of the claimed epsilon and with four times it.
    assert audited == {("private_halving", epsilon) for epsilon in ("0.25", "1.0", "4.0")}
    drawn = {row["policy"] for row in extended.rows("figures/us2026/fig1.csv")}
    assert drawn == {"private_etc", "ucb1", "private_halving"}
    report = (results / "report.html").read_text(encoding="utf-8")
    assert "mine: " in report or ">mine<" in report
    # The cases about published policies do not change.
    before = (small_made.folder / "results/tiny/ledger.csv").read_text(encoding="utf-8")
    assert (results / "ledger.csv").read_text(encoding="utf-8") == before

    # An edit runs only the jobs that use the edited file.
    edit(extended, "environments/beta_rewards.py", "Beta reward with mean", "Beta variable with mean")
    pending = extended.pending(configfiles=["my.yaml"])
    assert pending
    assert all("mine" in p or "report" in p or "ledger" in p for p in pending), pending
    assert not any("budgets" in p for p in pending)
    shards = {re.search(r"shards/mine/(\w+)-", p)[1] for p in pending if "/shards/" in p}
    assert shards == {"private_halving", "uniform"}


@pytest.mark.long
def test_faults_of_an_extension_end_the_run_with_one_line(extended):
    def refused(*words):
        done = extended.run("mine", configfiles=["my.yaml"])
        output = done.stdout + done.stderr
        assert done.returncode != 0
        assert [line for line in output.splitlines() if all(word in line for word in words)], output

    policy = "policies/bandit/private_halving.py"
    edit(extended, policy, "    return state.arm\n", "    return state.arm + 1\n")
    refused("error: mine/studies.yaml: studies.", "private_halving.py:", "returned arm", "expected 0 to")
    edit(extended, policy, "    return state.arm + 1\n", "    return state.arms\n")
    refused("private_halving.py:", "has no attribute 'arms'")
    edit(extended, policy, "state.arms", "state.arm")
    second = "examples/my_bandits/policies/bandit/ucb1.py"
    shutil.copy2(extended.folder / f"examples/my_bandits/{policy}", extended.folder / second)
    refused(second, "duplicate name", "workflow/privarms/policies/bandit/ucb1.py")
