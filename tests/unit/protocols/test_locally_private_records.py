"""Check records of the locally private bandit: regret, test point, eliminations, messages, partition."""

from types import SimpleNamespace

import numpy as np
import pytest

from privarms.environments import exponential, symmetric
from privarms.errors import PrivarmsError
from privarms.policies.locally_private import ldp_mab
from privarms.protocols import locally_private


def cell(record=None, horizon=2000, replicates=3):
    checkpoints = np.array([horizon // 4, horizon // 2, horizon])
    named = {"paper": "some2020", "study": "s", "policy": "ldp_mab", "environment": "exponential", "record": record}
    return SimpleNamespace(**named, horizon=horizon, checkpoints=checkpoints, replicates=replicates)


def run_block(record=None, replicates=3, environment=None, **settings):
    environment = environment or exponential.configure(3, "as_released")
    inputs = {"K": 3, "horizon": 2000, "epsilon": 30.0, "variant": "as_released", "M": 1, "n_aux": 4000,
             "epsilon_aux": 60, **settings}  # fmt: skip
    params = ldp_mab.configure(**inputs)
    return locally_private.run_block(
        ldp_mab, params, environment, cell(record, replicates=replicates), replicates, None, np.random.default_rng(7)
    )


def test_records_agree_with_each_other():
    regret, point, eliminations = (run_block(record) for record in ("regret", "point", "eliminations"))
    assert regret["replicate"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert regret["t"].tolist() == [500, 1000, 2000] * 3
    assert (np.diff(regret["regret"].reshape(3, 3)) >= 0).all()
    # With all draws from one stream the runs are the same.
    assert (point["regret"].reshape(9, 3) == regret["regret"][:, None]).all()
    assert (eliminations["regret"] == regret["regret"][2::3]).all()
    share = point["share"].reshape(3, 3, 3)
    assert share.sum(axis=2) == pytest.approx(np.ones((3, 3)))
    # Arm 0 is best at the test point. Other arms cost their gaps.
    environment = exponential.configure(3, "as_released")
    means = np.array([environment.mean(environment, 0, 0, np.array([0.33, 0.33]), k) for k in range(3)])
    gaps = (share @ (means[0] - means)) * [500, 1000, 2000]
    assert point["local_regret"].reshape(3, 3, 3)[..., 0] == pytest.approx(gaps)
    gone = point["eliminated_after"].reshape(3, 3, 3)[:, 0]
    assert (gone == 0).any()
    # An arm that was eliminated before the target's users is never pulled.
    assert (share[:, -1][gone == 0] == 0).all()
    assert (eliminations["eliminations"] >= eliminations["auxiliary"]).all()
    assert (eliminations["auxiliary"] > 0).all()
    assert (eliminations["wrong"] >= eliminations["auxiliary_wrong"]).all()
    assert ((eliminations["lost"] >= 0) & (eliminations["lost"] < 0.5)).all()


def test_lost_contexts_are_those_whose_best_arm_is_gone():
    # Bins: the square, its left half and its right half. Arm 1 is best for x^1 in (3/8, 5/8), arms 0 and 2 outside.
    tree = SimpleNamespace(lower=np.array([[0, 0], [0, 0], [0.5, 0]]), upper=np.array([[1, 1], [0.5, 1], [1, 1]]))
    removals = np.array([[0, 10, 0, 0], [1, 20, 2, 2], [0, 0, 0, 0]])
    counts = {name: np.array([n]) for name, n in (("removals", 2), ("looks", 7), ("misses", 3))}
    state = SimpleNamespace(tree=tree, removals=removals, counts=counts)
    policy = SimpleNamespace(init=lambda params, rng: state, choose=lambda *_: 0, learn=lambda *_: None)
    params = SimpleNamespace(n_arms=3, dimensions=2, users=np.array([8, 0]))
    environment = exponential.configure(3, "as_released")
    actual = locally_private.run_block(
        policy, params, environment, cell("eliminations", 8, 1), 1, None, np.random.default_rng(1)
    )
    assert {name: column.item() for name, column in actual.items() if name not in ("replicate", "regret")} == {
        "eliminations": 2, "wrong": 1, "auxiliary": 1, "auxiliary_wrong": 1, "looks": 7, "misses": 3, "lost": 0.75
    }  # fmt: skip


def test_a_partition_is_the_run_s_own_at_every_checkpoint():
    actual = run_block("partition", replicates=1, n_aux=0)
    whole = run_block("eliminations", replicates=1, n_aux=0)
    at_end = actual["t"] == 2000
    assert sorted(set(actual["t"].tolist())) == [500, 1000, 2000]
    # An arm removed from a bin is removed from all its parts, so count removals that no parent bin has.
    ends = zip(actual["bin"][at_end], actual["arm"][at_end], actual["active"][at_end], strict=True)
    gone = {(b, a) for b, a, on in ends if not on}
    removed = [(b, a) for b, a in gone if b == 0 or ((b - 1) // 2, a) not in gone]
    assert len(removed) == whole["eliminations"][0] > 0
    for t in (500, 1000, 2000):
        rows = (actual["t"] == t) & (actual["arm"] == 0) & (actual["refined"] == 0)
        area = (actual["x_high"] - actual["x_low"]) * (actual["y_high"] - actual["y_low"])
        assert area[rows].sum() == 1.0
    # An evaluated arm has both an estimate and a radius.
    assert (np.isnan(actual["estimate"]) == np.isnan(actual["radius"])).all()
    assert np.isfinite(actual["radius"]).any()
    one_dimension = run_block(
        "partition", replicates=1, n_aux=0, dimensions=1, environment=exponential.configure(3, "as_released", 1)
    )
    assert np.isnan(one_dimension["y_low"]).all()
    for wrong in ({"replicates": 2, "n_aux": 0}, {"replicates": 1}):
        with pytest.raises(ValueError, match="partition is for one run without auxiliary users"):
            run_block("partition", **wrong)


def test_estimates_outside_their_radii_are_counted():
    # The printed radius is valid at c = 64 and far too small at c = .01.
    environment = exponential.configure(3, "as_printed")
    settings = {"environment": environment, "variant": "as_printed", "epsilon": 2.0, "n_aux": 0}
    wide, narrow = (run_block("eliminations", c=c, **settings) for c in (64.0, 0.01))
    assert (wide["looks"] >= 3 * 1000).all()
    assert wide["misses"].tolist() == [0, 0, 0]
    assert (narrow["misses"] > 0.5 * narrow["looks"]).all()


def test_a_policy_told_other_sizes_is_refused():
    with pytest.raises(PrivarmsError, match="K = 2"):
        run_block(environment=symmetric.configure("as_released"))
