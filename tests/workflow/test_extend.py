"""Check that the files printed in docs/extend.md and docs/extend-by-kind.md work."""

import pytest

from .conftest import printed_files

pytestmark = pytest.mark.workflow

COLLECTION = "my_bandits/papers/ours/"
CHANGING = "my_bandits/papers/changing/studies.yaml"


@pytest.mark.long
def test_the_examples_are_a_paper(small):
    small.complete(scale="quick")

    (loss, *table) = small.rows("ledger.csv", scale="quick")
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
    for row in small.rows("tables/us2026/privacy.csv", scale="quick"):
        assert float(row["lower_bound"]) < float(row["exact"]) < float(row["claimed"])
    (audited, *_) = small.rows("audit.csv", scale="quick")
    assert (audited["study"], audited["subject"], audited["family"]) == ("privacy", "private_etc", "bandit")
    drawn = {(row["panel"], row["K"]) for row in small.rows("figures/us2026/fig1.csv", scale="quick")}
    assert drawn == {("few_arms", "2"), ("many_arms", "5")}


@pytest.mark.long
def test_a_collection_in_forty_lines(small):
    files = {path: text for path, text in printed_files().items() if path.startswith(COLLECTION)}
    assert sum(len([line for line in text.splitlines() if line]) for text in files.values()) < 40
    for path, text in files.items():
        small.write(path, text)
    small.complete("ours", "ledger", "extensions=[my_bandits]")

    assert (small.folder / "results/tiny/figures/ours/regret_by_budget.pdf").is_file()
    table = small.rows("tables/ours/regret.csv")
    assert [(row["policy"], row["epsilon"]) for row in table] == [("dp_se", "0.1"), ("dp_se", "1.0"), ("ucb1", "")]
    regret = {(row["policy"], row["epsilon"]): float(row["regret_mean"]) for row in table}
    (row,) = [row for row in small.rows("ledger.csv") if row["paper"] == "ours"]
    assert (row["statement"], row["verdict"]) == ("ours/more_budget_less_regret", "undecided")
    assert float(row["measured"]) == pytest.approx(regret["dp_se", "1.0"] / regret["dp_se", "0.1"], rel=1e-3)


@pytest.mark.long
def test_a_study_of_arms_that_change_with_the_round(small):
    small.write(CHANGING, printed_files()[CHANGING])
    small.complete("changing", "extensions=[my_bandits]", scale="quick")
    for figure in ("over_time", "quantiles", "ratios", "final"):
        assert (small.folder / f"results/quick/figures/changing/moving_best_arm_{figure}.pdf").is_file()
    rows = small.rows("figures/changing/moving_best_arm_over_time.csv", scale="quick")
    regret = [float(row["mean"]) for row in rows if row["policy"] == "ucb1"]
    # Arms differ by 1/2 in every round.
    assert 0 < regret[-1] < 10_000 / 2
    assert regret == sorted(regret)
