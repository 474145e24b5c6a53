"""Check the figures of frontier on handmade tables: a value, the lines and the labels of each."""

import pandas as pd

from privarms.papers.frontier import figures

from .. import drawn
from .tables_by_hand import CELL, results

MEASURED = {"replicates": 30, "regret": 100.0, "se": 1.0, "median": 90.0, "q99": 200.0, "instance": "mu2"}
POLICIES = {"dp_imed": "DP-IMED", "dp_se": "DP-SE", "dp_ucb": "DP-UCB (exact)", "added": "Added"}


def cells(**own) -> list[dict]:
    """Return one row per policy, epsilon and horizon, and KL-UCB without privacy."""
    private = [
        CELL | MEASURED | {"policy": policy, "curve": curve, "epsilon": epsilon, "horizon": T} | own
        for policy, curve in POLICIES.items() for epsilon in (0.1, 1.0) for T in (100, 1_000)
    ]  # fmt: skip
    public = [CELL | MEASURED | {"policy": "klucb", "curve": "KL-UCB", "epsilon": None, "horizon": 1_000}]
    return [*private, *public]


def test_groups_of_policies_have_rows_with_the_bounds():
    rows = cells()
    rows[3]["replicates"] = 4
    bounds = [
        {"bound": bound, "value": 5.0, "epsilon": epsilon, "horizon": T, "instance": "mu2"}
        for bound in figures.BOUNDS for epsilon in (0.1, 1.0) for T in (100, 1_000)
    ]  # fmt: skip
    figure, numbers = figures.by_epsilon(results(regret=rows, bounds=bounds))
    rows_of_panels = [*dict.fromkeys(figures.FAMILIES.values()), figures.OTHERS]
    assert [ax.get_ylabel().split("\n")[0] for ax in figure.axes] == rows_of_panels
    # One private policy, KL-UCB and three bounds in each panel.
    assert [len(ax.get_lines()) for ax in figure.axes] == [5] * 4
    assert [drawn.texts(ax) for ax in figure.axes] == [[curve] for curve in POLICIES.values()]
    assert sorted(drawn.legend(figure)) == sorted(["KL-UCB", *(label for label, _ in figures.BOUNDS.values())])
    assert set(numbers["horizon"]) == {100, 1_000}
    few = numbers[numbers["replicates"] == 4]
    assert (list(few["regret"]), few["low"].notna().any()) == ([100], False)


def test_privacy_regimes_have_the_published_limit():
    rows = [row | {"bound_d_epsilon": 50.0} for row in cells() if row["horizon"] == 1_000 and row["policy"] != "klucb"]
    figure, numbers = figures.regimes(results(regimes=rows))
    assert drawn.texts(figure.axes[0]) == ["published: level from here"]
    # Four policies, the bound and the published value.
    assert len(figure.axes[0].get_lines()) == 6
    assert len(drawn.legend(figure)) == 5
    assert set(numbers["bound_d_epsilon"]) == {50}


def test_the_tail_has_a_column_per_epsilon():
    settings = [(2.0, None), (2.0, 1.0), (2.0, 8.0), (1.1, None), (1.1, 8.0), (4.0, None), (4.0, 8.0)]
    rows = [
        CELL | MEASURED | {"policy": "dp_imed", "curve": "DP-IMED", "epsilon": epsilon, "ratio": ratio, "first": first}
        for epsilon in (1.0, 0.1) for ratio, first in settings
    ]  # fmt: skip
    figure, numbers = figures.tail(results(tail=pd.DataFrame(rows).astype({"first": float})))
    assert [drawn.title(ax) for ax in figure.axes[:2]] == ["$\\varepsilon = 0.1$", "$\\varepsilon = 1$"]
    # Mean and median; in the lower row with and without a long first batch.
    assert [len(ax.get_lines()) for ax in figure.axes] == [2, 2, 4, 4]
    assert drawn.legend(figure) == ["DP-IMED", "DP-IMED, first = 8"]
    assert set(numbers["median"]) == {90}
