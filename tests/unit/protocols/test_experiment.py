"""Check the records of the protocol of adaptive experiments: rows per run and feature, and totals."""

from types import SimpleNamespace

import numpy as np
import pytest

from privarms.environments import features_bernoulli
from privarms.policies.experiment import conse_se
from privarms.protocols import experiment

# The first half has about the number of patients per feature that epochs 0 and 1 need.
M, N = 3, 9200


def rows(record):
    cell = SimpleNamespace(record=record, environment="features_bernoulli")
    params, environment = conse_se.configure(M, N, 0.0), features_bernoulli.configure(M, N)
    return experiment.run_block(conse_se, params, environment, cell, 50, None, np.random.default_rng(6))


def test_a_row_per_replicate_and_feature():
    actual = rows("features")
    assert {len(column) for column in actual.values()} == {50 * M}
    assert actual["replicate"].tolist() == np.repeat(np.arange(50), M).tolist()
    assert actual["feature"].tolist() == [1, 2, 3] * 50
    assert actual["effect"].reshape(50, M) == pytest.approx(np.array([[0.3, 0.4, 0.5]] * 50))
    assert actual["variance_0"] == pytest.approx(0.21)
    assert actual["variance_1"][:3] == pytest.approx([0.24, 0.21, 0.16])
    missing = np.isnan(actual["estimate"])
    assert (actual["missing"] == missing).all()
    assert 0 < missing.sum() < 50 * M
    present = ~missing
    assert actual["squared_error"][present] == pytest.approx((actual["estimate"] - actual["effect"])[present] ** 2)
    assert np.isnan(actual["squared_error"][missing]).all()
    means = actual["reward_sum_1"] / actual["pulls_1"] - actual["reward_sum_0"] / actual["pulls_0"]
    assert actual["estimate"][present] == pytest.approx(means[present])
    assert (actual["eliminated"] == ~np.isnan(actual["eliminated_after"])).all()
    assert 0.2 < actual["eliminated"].mean() < 0.8


def test_a_row_per_replicate_is_the_features_together():
    features_rows, runs = rows("features"), rows("runs")
    by_run = {name: values.reshape(50, M) for name, values in features_rows.items()}
    for name in ("regret", "first_half_regret", "missing", "eliminated", "wrong"):
        assert runs[name] == pytest.approx(by_run[name].sum(axis=1))
    assert runs["squared_error"] == pytest.approx(by_run["squared_error"].max(axis=1), nan_ok=True)
    assert rows(None)["regret"] == pytest.approx(runs["regret"])
    first = rows("first_feature")
    assert set(first["feature"]) == {1}
    assert first["estimate"] == pytest.approx(by_run["estimate"][:, 0], nan_ok=True)


def test_a_block_s_totals_are_the_sums_of_its_replicates():
    by_run = {name: values.reshape(50, M) for name, values in rows("features").items()}
    totals = rows("totals")
    assert totals["feature"].tolist() == [0, 1, 2, 3]
    assert totals["replicate"].tolist() == [0] * 4
    assert totals["trials"].tolist() == [50] * 4
    for name in ("regret", "first_half_regret", "missing", "eliminated", "wrong"):
        assert totals[name][1:] == pytest.approx(by_run[name].sum(axis=0))
    all_gone = by_run["eliminated"].min(axis=1).sum()
    assert 0 < all_gone < by_run["eliminated"].max(axis=1).sum()
    assert totals["eliminated"][0] == all_gone
    assert totals["regret"][0] == pytest.approx(by_run["regret"].sum())
    assert totals["regret_squares"][0] == pytest.approx((by_run["regret"].sum(axis=1) ** 2).sum())
    assert totals["regret_squares"][1:] == pytest.approx((by_run["regret"] ** 2).sum(axis=0))
    late = by_run["regret"] - by_run["first_half_regret"]
    assert totals["second_half_squares"][0] == pytest.approx((late.sum(axis=1) ** 2).sum())
    assert totals["second_half_squares"][1:] == pytest.approx((late**2).sum(axis=0))
    assert totals["squared_error"][1:] == pytest.approx(np.nansum(by_run["squared_error"], axis=0))
    assert totals["squared_error_squares"][1:] == pytest.approx(np.nansum(by_run["squared_error"] ** 2, axis=0))
    complete = by_run["missing"].max(axis=1) == 0
    assert 0 < complete.sum() < 50
    assert totals["missing"][0] == 50 - complete.sum()
    assert totals["squared_error"][0] == pytest.approx(by_run["squared_error"][complete].max(axis=1).sum())


def test_wrong_counts_the_runs_that_lost_the_better_arm():
    environment = features_bernoulli.configure(2, 10, smallest_gap=0.0, largest_gap=0.5)
    records = experiment.new_records(3, 2)
    records.kept[:] = [[0, 0], [1, 1], [-1, -1]]
    actual = experiment.measures(environment, records)
    # Feature 1 has no gap, so neither arm is better.
    assert actual["wrong"].tolist() == [[0, 1], [0, 0], [0, 0]]
    assert actual["eliminated"].tolist() == [[1, 1], [1, 1], [0, 0]]
