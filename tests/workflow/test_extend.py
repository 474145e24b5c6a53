"""Check that the files printed in docs/extend.md work."""

import csv
import re
import shutil

import pytest

from .conftest import ROOT

pytestmark = pytest.mark.workflow

# The tiny project has its studies and claims in a separate folder.
PLACES = {"config/papers/": "tiny/papers/"}
EXTENSION = "my_bandits/papers/"
COLLECTION = EXTENSION + "ours/"
CHANGING = EXTENSION + "changing/studies.yaml"


def blocks() -> dict[str, str]:
    """Return the files that the page shows, by path."""
    text = (ROOT / "docs/extend.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)```$", text, flags=re.DOTALL | re.MULTILINE))


def test_the_examples_are_a_paper(small):
    shutil.rmtree(small.folder / "tiny/papers")
    for path, text in blocks().items():
        if path.startswith(EXTENSION):
            continue
        for place, tiny in PLACES.items():
            path = path.replace(place, tiny)
        assert not (small.folder / path).exists(), path
        (small.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (small.folder / path).write_text(text, encoding="utf-8")
    small.complete()

    results = small.folder / "results/quick"
    rows = {r["claim"]: r for r in csv.DictReader((results / "ledger.csv").open(encoding="utf-8"))}
    own = {name.removeprefix("us2026/"): row for name, row in rows.items()}
    # ln((2 + 0) / (exp(-1) (2 + 1))) = 0.5945 at epsilon = 1.
    assert own["loss_is_at_most_epsilon"]["verdict"] == "reproduced"
    assert float(own["loss_is_at_most_epsilon"]["reproduced"]) == pytest.approx(0.59453, abs=1e-5)
    assert {name: row["published"] for name, row in own.items() if name.startswith("regret")} == {
        "regret_2_arms_0_1": "10000",
        "regret_2_arms_1": "1500",
        "regret_5_arms_0_1": "15000",
        "regret_5_arms_1": "1800",
    }
    for row in csv.DictReader((results / "tables/us2026/privacy.csv").open(encoding="utf-8")):
        assert float(row["lower_bound"]) < float(row["exact"]) < float(row["claimed"])
    (audited, *_) = csv.DictReader((results / "audit.csv").open(encoding="utf-8"))
    assert (audited["study"], audited["subject"], audited["family"]) == ("privacy", "private_etc", "bandit")
    drawn = list(csv.DictReader((results / "figures/us2026/fig1.csv").open(encoding="utf-8")))
    assert {(r["panel"], r["K"]) for r in drawn} == {("few_arms", "2"), ("many_arms", "5")}


def test_a_collection_in_forty_lines(small):
    files = {path: text for path, text in blocks().items() if path.startswith(COLLECTION)}
    assert sum(len([line for line in text.splitlines() if line]) for text in files.values()) < 40
    for path, text in files.items():
        (small.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (small.folder / path).write_text(text, encoding="utf-8")
    small.complete("ours", "ledger", "extensions=[my_bandits]")

    results = small.folder / "results/quick"
    assert (results / "figures/ours/regret_by_budget.pdf").is_file()
    table = list(csv.DictReader((results / "tables/ours/regret.csv").open(encoding="utf-8")))
    assert [(row["policy"], row["epsilon"]) for row in table] == [("dp_se", "0.1"), ("dp_se", "1.0"), ("ucb1", "")]
    regret = {(row["policy"], row["epsilon"]): float(row["regret_mean"]) for row in table}
    ledger = {r["claim"]: r for r in csv.DictReader((results / "ledger.csv").open(encoding="utf-8"))}
    measured = {
        name: float(ledger[f"ours/{name}"]["reproduced"])
        for name in ("more_budget_less_regret", "few_times_the_regret_of_ucb1")
    }
    assert measured["more_budget_less_regret"] == pytest.approx(
        regret["dp_se", "1.0"] / regret["dp_se", "0.1"], rel=1e-3
    )
    assert measured["few_times_the_regret_of_ucb1"] == pytest.approx(
        regret["dp_se", "1.0"] / regret["ucb1", ""], rel=1e-3
    )


def test_a_study_of_arms_that_change_with_the_round(small):
    (small.folder / CHANGING).parent.mkdir(parents=True)
    (small.folder / CHANGING).write_text(blocks()[CHANGING], encoding="utf-8")
    small.complete("changing", "extensions=[my_bandits]")
    results = small.folder / "results/quick"
    for figure in ("over_time", "quantiles", "ratios", "final"):
        assert (results / f"figures/changing/moving_best_arm_{figure}.pdf").is_file()
    rows = csv.DictReader((results / "figures/changing/moving_best_arm_over_time.csv").open(encoding="utf-8"))
    regret = [float(row["mean"]) for row in rows if row["policy"] == "ucb1"]
    # Arms differ by 1/2 in every round.
    assert 0 < regret[-1] < 10_000 / 2
    assert regret == sorted(regret)
