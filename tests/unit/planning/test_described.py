"""Check the settings of cells in words."""

import pytest

from privarms.files import settings
from privarms.planning import cells, described
from privarms.planning.studies import Study


@pytest.fixture
def expanded():
    study = {
        **{"protocol": "bandit", "environment": {"name": "bernoulli", "top": 0.75, "bottom": 0.25}, "block": 10},
        **{"horizon": 100_000, "replicates": 100},
        "grid": [
            {"panel": "fig1", "K": 5, "epsilon": [1, 2]},
            {"panel": "fig2", "K": [3, 4], "epsilon": 0.5},
        ],
        "policies": [{"policy": "dp_se"}, {"policy": "ucb1", "replicates": 30}],
    }
    return cells.expand("studies.yaml", "one2001", "regret", Study.model_validate(study))


def test_there_is_a_row_per_policy_and_number_of_runs(expanded):
    first, second = described.settings(expanded, ["table1"])
    assert first["policy"] == "DP-SE"
    assert [first[name] for name in ("K", "d", "epsilon")] == ["3, 4, 5", "", "0.5, 1, 2"]
    assert (first["n"], first["runs"]) == ("100\u202f000", "100")
    assert first["others"] == "top 0.75; bottom 0.25"
    assert (second["policy"], second["epsilon"], second["runs"]) == ("UCB1", "", "30")


def test_only_the_cells_of_a_panel_with_the_name_of_the_figure_count(expanded):
    assert {row["K"] for row in described.settings(expanded, ["fig2"])} == {"3, 4"}
    assert {row["K"] for row in described.settings(expanded, ["fig1_symmetric"])} == {"5"}
    assert {row["K"] for row in described.settings(expanded, ["fig1", "fig2"])} == {"3, 4, 5"}
    # `fig10` is no figure of panel `fig1`.
    assert {row["K"] for row in described.settings(expanded, ["fig10"])} == {"3, 4, 5"}


def test_many_values_are_given_by_their_ends():
    assert described.in_words([2, 1, 2]) == "1, 2"
    assert described.in_words([1.0, 0.25]) == "0.25, 1"
    # Words have no order, and a text of several numbers is one value.
    assert described.in_words(["2 8", 4]) == "(2, 8), 4"
    assert described.in_words(list("gfedcba")) == "g, f, e, d, c, b, a"
    assert described.in_words(["", "noise"]) == "none, noise"
    assert described.in_words(list(range(10_000, 70_000, 10_000))) == "10\u202f000 to 60\u202f000 (6 values)"


def test_the_lines_of_a_study_end_before_the_next_comment(tmp_path):
    file = tmp_path / "studies.yaml"
    file.write_text("studies:\n  one:\n    a: 1\n    b: [1,\n      2]\n\n  # Of the next.\n  two: {a: 1}\n")
    assert settings.lines(file, "studies", "one") == (2, 5)
    assert settings.lines(file, "studies", "two") == (8, 8)


def test_a_study_may_end_with_an_alias(tmp_path):
    file = tmp_path / "studies.yaml"
    file.write_text("studies:\n  one: &first\n    a: [1]\n  two:\n    b:\n      - 1\n      - *first\n  three: {a: 1}")
    assert settings.lines(file, "studies", "two") == (4, 7)
    assert settings.lines(file, "studies", "three") == (8, 8)


def test_a_parameter_that_only_some_cells_give_is_shown_with_its_default():
    study = {
        **{"protocol": "bandit", "environment": {"name": "bernoulli", "top": 0.75, "bottom": 0.25}, "block": 10},
        **{"horizon": 100, "replicates": 100, "grid": {"K": 5, "epsilon": 1}},
        "policies": [{"policy": "dp_se"}, {"policy": "dp_se", "beta": 0.05}],
    }
    (row,) = described.settings(
        cells.expand("studies.yaml", "one2001", "regret", Study.model_validate(study)), ["fig1"]
    )
    # Without `beta` DP-SE uses 1/T, so the argument has no number as its default.
    assert "beta default, 0.05" in row["others"]


def test_what_data_tell_a_policy_has_no_default():
    study = {
        **{"protocol": "locally_private", "environment": {"name": "labelled_users"}, "horizon": 100, "block": 10},
        **{
            "replicates": 100,
            "grid": {"dataset": ["adult", "taxi"], "epsilon": 1},
            "policies": [{"policy": "ldp_mab", "variant": "as_released"}],
        },
    }
    (row,) = described.settings(cells.expand("studies.yaml", "one2001", "data", Study.model_validate(study)), [])
    # `ldp_mab` has two dimensions by default; the dimensions of a dataset come with it.
    assert (row["K"], row["d"], row["epsilon"]) == ("", "", "1")
