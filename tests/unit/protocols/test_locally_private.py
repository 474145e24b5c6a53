"""Check the protocol on users of a dataset: arguments of policies, a common order, and refused settings."""

from dataclasses import replace

import numpy as np
import pytest

from privarms.environments import labelled_users
from privarms.errors import PrivarmsError
from privarms.execution.cell import Cell, Piece
from privarms.execution.run import run_piece
from privarms.policies.locally_private import ldp_linear, ldp_mab
from privarms.protocols import locally_private

CELL = Cell(
    paper="ma2025",
    study="toy",
    protocol="locally_private",
    policy="ldp_linear",
    environment="labelled_users",
    horizon=60,
    policy_parameters={"horizon": 60, "epsilon": 1, "epsilon_aux": "1 2", "batch": 5},
    environment_parameters={"dataset": "toy"},
    replicates=4,
    block=2,
    checkpoint_rule={"count": 2, "first": 60, "quarters": True},
)
MAB = replace(
    CELL, policy="ldp_mab", policy_parameters={**CELL.policy_parameters, "variant": "as_released", "epsilon": 30}
)


def rows(cell, data, first=0, last=2):
    return run_piece(Piece(cell, first, last), 1, {"toy": data[0]}).to_pandas()


def test_policies_are_told_arms_dimensions_and_sources(data):
    for cell in (CELL, MAB):
        actual = rows(cell, data)
        assert actual["t"].tolist() == [15, 30, 45, 60] * 4
        # A user earns 1 or loses 1.
        assert (actual["reward"] + actual["regret"] == actual["t"]).all()
    facts = labelled_users.tell(labelled_users.configure(str(data[0])))
    assert facts == {"K": 3, "dimensions": 2, "source_users": [5, 3]}
    wrong = replace(CELL, policy_parameters={**CELL.policy_parameters, "K": 4})
    with pytest.raises(PrivarmsError, match="labelled_users has K = 3, but the policy ldp_linear has 4"):
        rows(wrong, data)


def test_a_block_does_not_depend_on_the_one_before_it(data):
    whole, second = rows(CELL, data), rows(CELL, data, first=1)
    assert whole[whole["replicate"] >= 2].reset_index(drop=True).equals(second)


def test_policies_meet_the_same_users_in_the_same_order(data):
    orders = []
    for policy, params in (
        (ldp_linear, ldp_linear.configure(3, 60, 1.0, 2)),
        (ldp_mab, ldp_mab.configure(3, 60, 30.0, "as_released", M=0, batch=5)),
    ):
        environment = labelled_users.configure(str(data[0]))
        locally_private.run_block(
            policy, params, environment, CELL, 2, np.random.default_rng(1), np.random.default_rng(id(policy) % 1000)
        )
        orders.append(environment.order.tolist())
    assert orders[0] == orders[1]
    assert orders[0] != sorted(orders[0])


def test_more_users_than_there_are_and_records_of_bins_are_refused(data):
    parameters = {**CELL.policy_parameters, "horizon": 61}
    with pytest.raises(PrivarmsError, match="horizon: 61 users, but the data have 60 target users"):
        rows(replace(CELL, horizon=61, policy_parameters=parameters), data)
    with pytest.raises(PrivarmsError, match="eliminations is for policies with bins; ldp_linear has none"):
        rows(replace(CELL, record="eliminations", checkpoint_rule=None), data)


def test_regret_validity_and_messages_of_one_run(data):
    # The record is not part of the random seed, so the runs are the same.
    validity = rows(replace(MAB, record="validity", checkpoint_rule=None), data)
    messages = rows(replace(MAB, record="messages", checkpoint_rule=None), data)
    removals = rows(replace(MAB, record="eliminations", checkpoint_rule=None), data)
    assert (validity["regret"] + validity["reward"] == 60).all()
    for column in ("regret", "in_parts", "halvings", "empty", "alone"):
        assert (validity[column] == messages[column]).all()
    for column in ("eliminations", "looks", "misses"):
        assert (validity[column] == removals[column]).all()
    assert validity["looks"].sum() > 0
    # With real data the best arm of a bin is unknown.
    assert validity[["wrong", "lost"]].isna().all(axis=None)
    without_bins = rows(replace(CELL, record="validity", checkpoint_rule=None), data)
    assert (without_bins["regret"] + without_bins["reward"] == 60).all()
    assert without_bins[["eliminations", "looks", "in_parts"]].isna().all(axis=None)
