"""Check the figures and tables of Sajed & Sheffet 2019."""

import pytest

from privarms.papers.sajed2019 import tables

from .tables_by_hand import results, rows

CELL = {"variant": None, "data": "simulated", "environment": "bernoulli", "horizon": 100, "K": 5, "top": 0.75}
CELL |= {"bottom": 0.25, "epsilon": None, "width": None, "exploration": None}
MEASURED = {"replicates": 30, "regret_mean": 10.0, "regret_se": 1.0, "regret_p05": 8.0, "regret_p50": 10.0}
MEASURED |= {"regret_p95": 12.0}


def study(*cells, **measured):
    """Return summaries of cells c0, c1, ... at half the horizon and at the horizon."""
    return [
        one
        for i, cell in enumerate(cells)
        for one in rows(CELL | {"cell": f"c{i}"} | cell, *({"t": t} | MEASURED | measured for t in (50, 100)))
    ]


PUBLISHED = [
    *({"policy": "dp_se", "epsilon": e} for e in (0.1, 0.25, 0.5, 1.0)),
    *({"policy": "dp_ucb", "width": "chan", "epsilon": e} for e in (0.1, 0.25, 0.5, 1.0)),
    *({"policy": policy} for policy in ("ucb1", "successive_elimination", "epoch_se")),
]
ADDED = [{"policy": "dp_se", "epsilon": 2.0}, {"policy": "uniform"}, {"policy": "ucb"}]


def test_the_table_of_regret_takes_figure_1_for_what_was_run_there_alone():
    law = study(*PUBLISHED[:4], *PUBLISHED[-3:], replicates=400_000, regret_mean=11.0)
    regret = tables.regret(results(cells={"regret": law, "figure1": study(*PUBLISHED)}))
    assert len(regret) == len(PUBLISHED)
    assert set(regret.loc[regret["policy"] == "dp_ucb", "replicates"]) == {30}
    assert set(regret.loc[regret["policy"] != "dp_ucb", "replicates"]) == {400_000}
    more = tables.regret(results(cells={"regret": law, "figure1": study(*PUBLISHED, *ADDED)}))
    kept = more.head(len(law) // 2)
    assert (kept["mean"] == 11).all()
    assert len(more) == len(PUBLISHED) + len(ADDED)
    (added,) = more[(more["policy"] == "dp_se") & (more["epsilon"] == 2)].to_dict("records")
    assert added["mean"] == pytest.approx(10)


def test_the_tables_of_the_stopping_rules_count_runs():
    shared = {"policy": "dp_nas", "alpha": 0.1, "epsilon": 1.0, "replicates": 50, "stopping_time_mean": 9.0}
    shared |= {"stopping_time_se": 1.0, "t_upper": 20.0, "t_proof": 3.0, "upper_quartile": 11.0}
    cells = rows(shared, {"mu": 0.5, "by_upper": 0.1, "failure_mean": 0.02}, {"mu": 1.0, "by_upper": 1.0})
    assert list(tables.large_mean(results(large_mean=cells))["halted"]) == [5, 50]
    actual = tables.noise_alone(results(noise_alone=cells))
    assert actual["failures"].tolist()[0] == 1
    assert actual[["mu", "upper_quartile", "t_proof"]].to_numpy().tolist() == [[0.5, 11, 3], [1.0, 11, 3]]
