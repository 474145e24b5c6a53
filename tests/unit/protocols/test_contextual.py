"""Check a classification dataset as a bandit: environment, protocol, and policies that do not learn."""

from types import SimpleNamespace

import numpy as np
import pytest

from privarms.environments import classification as environment_module
from privarms.errors import PrivarmsError
from privarms.policies.bandit import constant, uniform
from privarms.protocols import contextual

CHECKPOINTS = np.array([1, 2, 10, 60])


def cell(horizon=60, checkpoints=CHECKPOINTS, policy="toy"):
    named = {"paper": "some2020", "study": "users", "policy": policy, "environment": "classification", "record": None}
    return SimpleNamespace(**named, horizon=horizon, checkpoints=checkpoints)


def run(policy, params, environment, replicates=4, seed=1, policy_seed=2, **of_cell):
    rngs = np.random.default_rng(seed), np.random.default_rng(policy_seed)
    return contextual.run_block(policy, params, environment, cell(**of_cell), replicates, *rngs)


def test_the_environment_keeps_target_and_sources_apart(data):
    path, table = data
    environment = environment_module.configure(str(path))
    frame = table.to_pandas()
    target = frame[frame["source"] == 0]
    assert np.array_equal(environment.contexts, target[["x1", "x2"]])
    assert np.array_equal(environment.labels, target["label"])
    assert environment.n_arms == 3
    assert environment.source_starts.tolist() == [0, 5, 8]
    for m in (1, 2):
        rows = slice(*environment.source_starts[m - 1 : m + 1])
        of_source = frame[frame["source"] == m]
        assert np.array_equal(environment.source_contexts[rows], of_source[["x1", "x2"]])
        assert np.array_equal(environment.source_labels[rows], of_source["label"])


def test_a_constant_arm_collects_its_labels(data):
    environment = environment_module.configure(str(data[0]))
    for arm in range(3):
        columns = run(constant, constant.configure(3, arm), environment)
        assert columns["replicate"].tolist() == np.repeat(range(4), 4).tolist()
        assert columns["t"].tolist() == CHECKPOINTS.tolist() * 4
        assert columns.keys() == {"replicate", *contextual.COLUMNS[None]}
        assert (columns["reward"].reshape(4, 4)[:, -1] == (environment.labels == arm).sum()).all()


def test_policies_that_are_compared_meet_the_same_users(data):
    # If all constant policies see the same user, exactly one of them earns 1 per round.
    environment = environment_module.configure(str(data[0]))
    rounds = np.arange(1, 61)
    rewards = [
        run(constant, constant.configure(3, arm), environment, policy_seed=arm, checkpoints=rounds)["reward"]
        for arm in range(3)
    ]
    assert np.array_equal(sum(rewards), np.tile(rounds, 4))
    # This fails with different orders.
    other = run(constant, constant.configure(3, 2), environment, seed=5, checkpoints=rounds)["reward"]
    assert not np.array_equal(rewards[0] + rewards[1] + other, np.tile(rounds, 4))


@pytest.mark.parametrize(
    ("policy", "params", "horizon", "message"),
    [
        (uniform, uniform.configure(3), 61, "toy on classification: horizon: 61 rounds, but the data have 60"),
        (uniform, uniform.configure(2), 60, "environment classification has K = 3, but the policy toy has 2"),
    ],
)
def test_a_study_that_does_not_fit_its_data_is_refused(data, policy, params, horizon, message):
    environment = environment_module.configure(str(data[0]))
    with pytest.raises(PrivarmsError, match=message):
        run(policy, params, environment, horizon=horizon)
