"""Labelled users as a bandit: cumulative reward, each replicate in a fresh order of the users."""

import numpy as np

from privarms.errors import PrivarmsError
from privarms.play import play_contextual

KEYS = ("t",)


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates over `cell.horizon` of the target's users each, by the policy's exact fast path if it has one.

    A row per replicate and checkpoint with `t` and `reward`, the cumulative reward. The users are drawn without
    replacement in uniform order, from environment_rng alone, so that policies which are compared meet the same users
    in the same order. Raises PrivarmsError for more rounds than users, or a policy that is told another number of
    arms or dimensions than the data have.
    """
    users, dimensions = environment.contexts.shape
    where = f"{cell.policy} on {cell.environment}"
    if cell.horizon > users:
        raise PrivarmsError(
            f"{where}: horizon: {cell.horizon:,} rounds, but the data have {users:,} target users; "
            "give a horizon of at most that many"
        )
    for name, expected in (("n_arms", environment.n_arms), ("dimensions", dimensions)):
        given = getattr(params, name, expected)
        if given != expected:
            raise PrivarmsError(
                f"{where}: the data have {name} = {expected} and the policy was told {given}; correct the study"
            )
    checkpoints = cell.checkpoints
    rewards = np.zeros((replicates, len(checkpoints)))
    simulate = getattr(policy, "SIMULATE", {}).get(cell.environment)
    for i in range(replicates):
        order = environment_rng.permutation(users)[: cell.horizon]
        if simulate is None:
            play_contextual(policy.POLICY, params, environment, order, checkpoints, policy_rng, rewards[i])
        else:
            simulate(params, environment, order, checkpoints, policy_rng, rewards[i])
    return {
        "replicate": np.repeat(np.arange(replicates), len(checkpoints)),
        "t": np.tile(checkpoints, replicates),
        "reward": rewards.ravel(),
    }
