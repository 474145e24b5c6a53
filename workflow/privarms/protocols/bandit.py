"""Stochastic bandits without context: regret at checkpoints, or pulls and reward sums per arm."""

import numpy as np

from privarms.play import play_block, simulate_block

KEYS = ("t", "arm")
RECORDS = ("regret", "arms")


def run_bandit(policy, params, environment, cell, replicates, rng):
    """Regret at the cell's checkpoints, and pulls and reward sums of each arm: [R, C], [R, K] and [R, K].

    By the policy's exact fast path for this environment where it has one.
    """
    arms, checkpoints = len(environment.means), cell.checkpoints
    regret = np.zeros((replicates, len(checkpoints)))
    pulls = np.zeros((replicates, arms), np.int64)
    reward_sums = np.zeros((replicates, arms))
    simulate = getattr(policy, "SIMULATE", {}).get(cell.environment)
    if simulate is None:
        play_block(policy.POLICY, params, environment, checkpoints, rng, regret, pulls, reward_sums)
    else:
        simulate_block(simulate, params, environment, checkpoints, rng, regret, pulls, reward_sums)
    return regret, pulls, reward_sums


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on the policy's stream.

    cell.record: "regret" (the default): a row per replicate and checkpoint with `t` and `regret`, the cumulative
    pseudo-regret; "arms": a row per replicate and arm with `arm`, `pulls` and `reward_sum` at the horizon.
    Rewards and choices share one stream: the fast paths draw both at once, so common random numbers have no meaning.
    """
    arms, checkpoints = len(environment.means), cell.checkpoints
    regret, pulls, reward_sums = run_bandit(policy, params, environment, cell, replicates, policy_rng)
    if cell.record in (None, "regret"):
        return {
            "replicate": np.repeat(np.arange(replicates), len(checkpoints)),
            "t": np.tile(checkpoints, replicates),
            "regret": regret.ravel(),
        }
    if cell.record == "arms":
        return {
            "replicate": np.repeat(np.arange(replicates), arms),
            "arm": np.tile(np.arange(arms), replicates),
            "pulls": pulls.ravel(),
            "reward_sum": reward_sums.ravel(),
        }
    raise ValueError(f"record: expected regret or arms; found {cell.record!r}")
