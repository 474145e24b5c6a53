"""Check regret compared with bounds, the worst runs, and the table for other programs."""

import math

import numpy as np
import pytest

from privarms.inference import lower_bounds
from privarms.papers.frontier import inference, tables

from .tables_by_hand import results, runs, summaries

MEANS = (0.75, 0.625, 0.5, 0.375, 0.25)
CELLS = (
    {"policy": "dp_klucb", "ratio": 2.0},
    {"policy": "dp_imed", "ratio": 2.0, "first": 8.0},
    {"policy": "dp_imed", "ratio": 2.0},
    {"policy": "dp_ucb", "width": "chan"},
    {"policy": "dp_ucb", "width": "exact"},
    {"policy": "imed", "epsilon": math.nan},
)


def made():
    regrets = [[1, 2, 3, 94], [1] * 4, [2] * 4, [3] * 4, [4] * 4, [5] * 4]
    contents = {"cells": {"regret": summaries(*CELLS)}, "replicates": {"regret": runs(*regrets)}}
    return inference.regret(results(**contents)), inference.bounds(results(**contents))


def test_regret_beside_the_bounds():
    rows, _ = made()
    first = rows.iloc[0]
    assert (first["instance"], first["regret"], first["median"]) == ("mu2", 25, 2.5)
    assert first["q99"] == pytest.approx(np.quantile([1, 2, 3, 94], 0.99))
    assert first["se"] == pytest.approx(np.std([1, 2, 3, 94], ddof=1) / 2)
    bound = lower_bounds.azize(MEANS, 0.5) * math.log(100)
    assert first["bound_d_epsilon"] == pytest.approx(bound)
    without = rows.iloc[-1]
    assert without["bound_lai_robbins"] == pytest.approx(lower_bounds.lai_robbins(MEANS) * math.log(100))
    assert math.isnan(without["bound_d_epsilon"])
    assert math.isnan(without["bound_azize_basu"])


def test_the_table_of_regret():
    rows, bounds = made()
    table = tables.regret(results(regret=rows, bounds=bounds))
    columns = "instance,K,epsilon,T,policy,ratio,regret,se,median,q90,q99,replicates"
    columns += ",bound_lai_robbins,bound_azize_basu,bound_d_epsilon"
    assert ",".join(table.columns) == columns
    named = set(table["policy"])
    assert {"dp_klucb", "dp_imed", "dp_imed first=8", "dp_ucb width=chan", "dp_ucb width=exact", "imed"} <= named
    assert {"bound_lai_robbins", "bound_azize_basu", "bound_d_epsilon"} <= named
    assert not table.duplicated(["instance", "K", "epsilon", "T", "policy", "ratio"]).any()
    (bound,) = table[(table["policy"] == "bound_d_epsilon")].to_dict("records")
    assert bound["regret"] == pytest.approx(lower_bounds.azize(MEANS, 0.5) * math.log(100))
    assert table.loc[table["policy"] == "dp_klucb", "ratio"].item() == 2
    assert table.loc[table["policy"] == "dp_ucb width=chan", "ratio"].isna().all()


def test_the_regret_of_runs_follows_from_their_pulls():
    pulls = [[80, 5, 5, 5, 5]] * 3 + [[8, 80, 4, 4, 4]]
    rows = [
        {"cell": "c0", "replicate": r, "arm": arm, "pulls": n}
        for r, of_run in enumerate(pulls)
        for arm, n in enumerate(of_run)
    ]
    cells = summaries({"policy": "dp_imed", "ratio": 2.0}, runs=4)
    (actual,) = inference.tail(results(cells={"tail": cells}, replicates={"tail": rows})).to_dict("records")
    usual, worst = 5 * (0.125 + 0.25 + 0.375 + 0.5), 80 * 0.125 + 4 * (0.25 + 0.375 + 0.5)
    assert actual["regret"] == pytest.approx((3 * usual + worst) / 4)
    assert actual["median"] == pytest.approx(usual)


def test_an_audit_has_a_row_per_policy():
    def counts(cell, policy, audit):
        shared = audit.AUDIT.setting | {"policy": policy, "epsilon": 1.0, "noise": 1.0, "trials": 40}
        shared = {k: v for k, v in shared.items() if k != "times"}
        return [{"cell": f"{cell}{n}"} | shared | {"neighbour": n, "events": 10 * (n + 1)} for n in (0, 1)]

    studies = {name: counts(name, name.removeprefix("audit_"), audit) for name, audit in inference.AUDITS.items()}
    studies["audit_adap_ucb"] += counts("added", "dp_imed", inference.AUDITS["audit_adap_ucb"])
    rows = inference.audit(results(replicates=studies)).set_index("cells")
    assert rows.loc["audit_adap_ucb0 audit_adap_ucb1", "subject"] == "adap_ucb"
    assert rows.loc["added0 added1", "subject"] == "dp_imed"
    assert set(rows["trials"]) == {40}
