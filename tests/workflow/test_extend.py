"""Check that the files printed in docs/extend.md and docs/extend-by-kind.md work."""

import re
import shutil

import pytest

from tests import ROOT

pytestmark = pytest.mark.workflow

# The tiny project has its studies and statements in a separate folder.
PLACES = {"config/papers/": "tiny/papers/"}
EXTENSION = "my_bandits/papers/"
COLLECTION = EXTENSION + "ours/"
CHANGING = EXTENSION + "changing/studies.yaml"


def blocks() -> dict[str, str]:
    """Return the files that the pages show, by path."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("extend*.md")))
    return dict(re.findall(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)```$", text, flags=re.DOTALL | re.MULTILINE))


@pytest.mark.long
def test_the_examples_are_a_paper(small):
    shutil.rmtree(small.folder / "tiny/papers")
    for path, text in blocks().items():
        if path.startswith(EXTENSION):
            continue
        for place, tiny in PLACES.items():
            path = path.replace(place, tiny)
        assert not (small.folder / path).exists(), path
        small.write(path, text)
    small.complete()

    (loss, *table) = small.rows("ledger.csv")
    # ln((2 + 0) / (exp(-1) (2 + 1))) = 0.5945 at epsilon = 1.
    assert (loss["statement"], loss["verdict"]) == ("us2026/loss_is_at_most_epsilon", "not refuted")
    assert float(loss["measured"]) == pytest.approx(0.59453, abs=1e-5)
    assert {row["case"]: row["published"] for row in table} == {
        "K = 2, epsilon = 0.1": "10000",
        "K = 2, epsilon = 1": "1500",
        "K = 5, epsilon = 0.1": "15000",
        "K = 5, epsilon = 1": "1800",
    }
    assert {row["verdict"] for row in table} == {"undecided"}
    for row in small.rows("tables/us2026/privacy.csv"):
        assert float(row["lower_bound"]) < float(row["exact"]) < float(row["claimed"])
    (audited, *_) = small.rows("audit.csv")
    assert (audited["study"], audited["subject"], audited["family"]) == ("privacy", "private_etc", "bandit")
    drawn = {(row["panel"], row["K"]) for row in small.rows("figures/us2026/fig1.csv")}
    assert drawn == {("few_arms", "2"), ("many_arms", "5")}


@pytest.mark.long
def test_a_collection_in_forty_lines(small):
    files = {path: text for path, text in blocks().items() if path.startswith(COLLECTION)}
    assert sum(len([line for line in text.splitlines() if line]) for text in files.values()) < 40
    for path, text in files.items():
        small.write(path, text)
    small.complete("ours", "ledger", "extensions=[my_bandits]")

    assert (small.folder / "results/quick/figures/ours/regret_by_budget.pdf").is_file()
    table = small.rows("tables/ours/regret.csv")
    assert [(row["policy"], row["epsilon"]) for row in table] == [("dp_se", "0.1"), ("dp_se", "1.0"), ("ucb1", "")]
    regret = {(row["policy"], row["epsilon"]): float(row["regret_mean"]) for row in table}
    (row,) = [row for row in small.rows("ledger.csv") if row["paper"] == "ours"]
    assert (row["statement"], row["verdict"]) == ("ours/more_budget_less_regret", "undecided")
    assert float(row["measured"]) == pytest.approx(regret["dp_se", "1.0"] / regret["dp_se", "0.1"], rel=1e-3)


@pytest.mark.long
def test_a_study_of_arms_that_change_with_the_round(small):
    small.write(CHANGING, blocks()[CHANGING])
    small.complete("changing", "extensions=[my_bandits]")
    for figure in ("over_time", "quantiles", "ratios", "final"):
        assert (small.folder / f"results/quick/figures/changing/moving_best_arm_{figure}.pdf").is_file()
    rows = small.rows("figures/changing/moving_best_arm_over_time.csv")
    regret = [float(row["mean"]) for row in rows if row["policy"] == "ucb1"]
    # Arms differ by 1/2 in every round.
    assert 0 < regret[-1] < 10_000 / 2
    assert regret == sorted(regret)
