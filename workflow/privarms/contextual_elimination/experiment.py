"""The loop between a policy of this room and its patients, and what a replicate leaves behind.

A policy is a `play.Policy` whose context is the patient's feature, an int: choose(params, state, feature, t, rng),
learn(params, state, feature, arm, reward, t, rng). Its params have a field `design`, a `trial.Design`, and its state
`viable`, bool[M, 2], and `trial`, a `trial.Trial`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.contextual_elimination.features import arrive, gap, worse_arm
from privarms.errors import PrivarmsError

BOTH = -1


class Record(NamedTuple):
    """What one replicate leaves behind: a row per feature; or many replicates, with a leading axis.

    regret, first_half_regret: float64, cumulative pseudo-regret of the feature's patients
    eliminated_after: float64, how many patients of the feature had come when an arm went, nan if none did
    kept: int64, the arm that is left, or -1 for both
    estimate: float64, nan where none was output; floor_T_min: int64; length: int64, T_j
    pulls: int64[M, 2], reward_sums: float64[M, 2], in the trial
    """

    regret: np.ndarray
    first_half_regret: np.ndarray
    eliminated_after: np.ndarray
    kept: np.ndarray
    estimate: np.ndarray
    floor_T_min: np.ndarray
    length: np.ndarray
    pulls: np.ndarray
    reward_sums: np.ndarray


def new_records(replicates: int, M: int) -> Record:
    """Empty records of a number of replicates."""
    shape = (replicates, M)
    return Record(
        np.zeros(shape),
        np.zeros(shape),
        np.full(shape, np.nan),
        np.full(shape, BOTH),
        np.full(shape, np.nan),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros((*shape, 2), np.int64),
        np.zeros((*shape, 2)),
    )


@njit
def _row(records, i):
    return Record(
        records.regret[i],
        records.first_half_regret[i],
        records.eliminated_after[i],
        records.kept[i],
        records.estimate[i],
        records.floor_T_min[i],
        records.length[i],
        records.pulls[i],
        records.reward_sums[i],
    )


@njit
def play(policy, params, environment, rng, record):
    """Run one replicate patient by patient; the plain reference of every policy. record: of one replicate."""
    M, n = params.design.M, params.design.n
    for feature in range(M):
        record.regret[feature] = 0.0
        record.eliminated_after[feature] = np.nan
    arrivals = np.zeros(M, np.int64)
    state = policy.init(params)
    for t in range(1, n + 1):
        feature = arrive(environment, t, rng)
        arm = policy.choose(params, state, feature, t, rng)
        reward = environment.pull(environment, feature, arm, rng)
        both = state.viable[feature, 0] and state.viable[feature, 1]
        state = policy.learn(params, state, feature, arm, reward, t, rng)
        arrivals[feature] += 1
        if both and not (state.viable[feature, 0] and state.viable[feature, 1]):
            record.eliminated_after[feature] = arrivals[feature]
        if arm == worse_arm(environment, feature):
            record.regret[feature] += gap(environment, feature)
        if t == n // 2:
            for j in range(M):
                record.first_half_regret[j] = record.regret[j]
    # Copied one by one: copies of whole arrays take seconds more to compile.
    for feature in range(M):
        both = state.viable[feature, 0] and state.viable[feature, 1]
        record.kept[feature] = BOTH if both else int(state.viable[feature, 1])
        record.estimate[feature] = state.trial.estimates[feature]
        record.floor_T_min[feature] = state.trial.floor_T_min[0]
        record.length[feature] = state.trial.lengths[feature]
        for arm in range(2):
            record.pulls[feature, arm] = state.trial.pulls[feature, arm]
            record.reward_sums[feature, arm] = state.trial.reward_sums[feature, arm]


@njit
def play_block(policy, params, environment, rng, records):
    """Run as many replicates of `play` on one stream as `records` has, one after another."""
    for i in range(len(records.regret)):
        play(policy, params, environment, rng, _row(records, i))


@njit
def simulate_block(simulate, params, environment, rng, records):
    """As `play_block`, by a policy's exact fast path `simulate(params, environment, rng, record)`."""
    for i in range(len(records.regret)):
        simulate(params, environment, rng, _row(records, i))


def run(policy, params, environment, environment_name: str, replicates: int, rng) -> Record:
    """The records of a number of replicates, by the policy's exact fast path for this environment where it has one.

    Raises PrivarmsError where the policy and the environment were told different sizes, and for a private policy on
    rewards outside [0, 1].
    """
    design = params.design
    for name, given, expected in (
        ("M", design.M, len(environment.means)),
        ("horizon", design.n, int(environment.ends[-1])),
    ):
        if given != expected:
            raise PrivarmsError(
                f"{environment_name}: {name}: the environment has {expected} and the policy was told {given}; "
                "give both the same in the study's config"
            )
    if design.epsilon < np.inf and not environment.bounded:
        raise PrivarmsError(
            f"{environment_name}: a private policy's noise is for rewards in [0, 1], which these are not; give it an "
            "environment with bounded rewards in the study's config"
        )
    records = new_records(replicates, design.M)
    simulate = getattr(policy, "SIMULATE", {}).get(environment_name)
    if simulate is None:
        play_block(policy.POLICY, params, environment, rng, records)
    else:
        simulate_block(simulate, params, environment, rng, records)
    return records


def measures(environment, records: Record) -> dict[str, np.ndarray]:
    """What is measured of every replicate and feature, arrays of shape [replicates, M] by name.

    regret, first_half_regret; eliminated: 1 where an arm was; eliminated_after; wrong: 1 where it was the better one;
    estimate, nan where none was output; missing: 1 there; squared_error, nan there; floor_T_min; length, T_j;
    pulls_0, pulls_1, reward_sum_0, reward_sum_1: of the arms in the trial; and of the environment, effect: the true
    difference; variance_0, variance_1: the true variances of a reward
    """
    effect = environment.means[:, 1] - environment.means[:, 0]
    worse = (effect < 0).astype(np.int64)
    ones = np.ones_like(records.regret)
    return {
        "regret": records.regret,
        "first_half_regret": records.first_half_regret,
        "eliminated": (records.kept != BOTH).astype(np.int64),
        "eliminated_after": records.eliminated_after,
        "wrong": ((records.kept == worse) & (effect != 0)).astype(np.int64),
        "estimate": records.estimate,
        "missing": np.isnan(records.estimate).astype(np.int64),
        "squared_error": (records.estimate - effect) ** 2,
        "floor_T_min": records.floor_T_min,
        "length": records.length,
        "pulls_0": records.pulls[..., 0],
        "pulls_1": records.pulls[..., 1],
        "reward_sum_0": records.reward_sums[..., 0],
        "reward_sum_1": records.reward_sums[..., 1],
        "effect": effect * ones,
        "variance_0": environment.deviations[:, 0] ** 2 * ones,
        "variance_1": environment.deviations[:, 1] ** 2 * ones,
    }
