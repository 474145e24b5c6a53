"""Adaptive experiments with features (`environments.features_bernoulli`): regret and estimates of each feature."""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms import fast_paths
from privarms.environments.features_bernoulli import arrive, gap, worse_arm
from privarms.kernels.checks import admit, refuse_not_finite
from privarms.kernels.loops import loop
from privarms.policies import Policy, functions
from privarms.policies.experiment import BOTH
from privarms.protocols._agreement import agree
from privarms.protocols._rows import rows

FAMILY = "experiment"
KEYS = ("feature",)
SUMMED = ("regret", "first_half_regret", "eliminated", "wrong", "missing")
SQUARED = ("regret", "second_half", "squared_error")
OF_FEATURE = (
    *("feature", "regret", "first_half_regret", "eliminated", "eliminated_after", "wrong", "estimate", "missing"),
    *("squared_error", "floor_T_min", "length", "pulls_0", "pulls_1", "reward_sum_0", "reward_sum_1", "effect"),
    *("variance_0", "variance_1"),
)
COLUMNS = {
    "runs": (*SUMMED, "squared_error"),
    "features": OF_FEATURE,
    "first_feature": OF_FEATURE,
    "totals": ("feature", "trials", *SUMMED, "squared_error", *(f"{of}_squares" for of in SQUARED)),
}
RECORDS = tuple(COLUMNS)
ROW_PER_BLOCK = ("totals",)


class Record(NamedTuple):
    """The record of one replicate, one row per feature; or of many replicates, with a leading axis.

    eliminated_after: patients of the feature up to the elimination of an arm, nan without elimination
    kept: the remaining arm, or -1 for both; estimate: nan without output; length: T_j
    pulls, reward_sums: of both arms in the trial
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
    """Return empty records for a number of replicates."""
    regret, first_half_regret = np.zeros((2, replicates, M))
    eliminated_after, estimate = np.full((2, replicates, M), np.nan)
    floor_T_min, length = np.zeros((2, replicates, M), np.int64)
    kept, pulls = np.full((replicates, M), BOTH), np.zeros((replicates, M, 2), np.int64)
    sums = np.zeros((replicates, M, 2))
    return Record(regret, first_half_regret, eliminated_after, kept, estimate, floor_T_min, length, pulls, sums)


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on the policy's stream, by its exact fast path for this environment if there is one.

    cell.record is one of RECORDS, "runs" by default; docs/output.md lists the columns. Arrivals and choices share one
    stream, because fast paths draw both at once. Policies have no common random numbers.
    """
    records = run(policy, params, environment, cell, replicates, policy_rng)
    measured = measures(environment, records)
    if cell.record in (None, "runs"):
        return {
            "replicate": np.arange(replicates),
            **{name: measured[name].sum(axis=1) for name in SUMMED},
            "squared_error": measured["squared_error"].max(axis=1),
        }
    if cell.record == "totals":
        return totals(measured)
    features = 1 if cell.record == "first_feature" else params.design.M
    return rows("feature", np.arange(1, features + 1), **{name: x[:, :features] for name, x in measured.items()})


def run(policy, params, environment, cell, replicates: int, rng) -> Record:
    """Return the records of a number of replicates; StudyError if policy and environment have different sizes."""
    design = params.design
    agree(cell, design, M=len(environment.means), horizon=int(environment.ends[-1]))
    records = new_records(replicates, design.M)
    simulate = fast_paths.find(policy, cell.environment)
    simulate, own = (simulate, (params,)) if simulate else (play, (functions(Policy, policy), params))
    loop(play_block)(simulate, own, environment, rng, records)
    refuse_not_finite(reward=records.reward_sums, regret=records.regret)
    return records


def measures(environment, records: Record) -> dict[str, np.ndarray]:
    """Return the measured values of every replicate and feature, arrays of shape [replicates, M] by name.

    wrong: 1 if the better arm was eliminated; effect, variance_0, variance_1: true values, from the environment
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


def totals(measured: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return one row per block and feature, from 1, and one with feature 0, from the arrays of `measures`.

    Feature 0 is the whole run. Its regret is that of all features. Its squared error is the largest of the features, in
    runs without a missing estimate. It is eliminated if every feature is, and wrong or missing if any feature is.
    """

    def with_run(name, over_features):
        return np.column_stack([over_features(measured[name], axis=1), measured[name]])

    regret, errors = with_run("regret", np.sum), with_run("squared_error", np.max)
    first_half = with_run("first_half_regret", np.sum)
    replicates, M = measured["regret"].shape
    features = M + 1
    return {
        "replicate": np.zeros(features, np.int64),
        "feature": np.arange(features),
        "trials": np.full(features, replicates),
        "regret": regret.sum(axis=0),
        "regret_squares": (regret**2).sum(axis=0),
        "first_half_regret": first_half.sum(axis=0),
        "second_half_squares": ((regret - first_half) ** 2).sum(axis=0),
        "squared_error": np.nansum(errors, axis=0),
        "squared_error_squares": np.nansum(errors**2, axis=0),
        "eliminated": with_run("eliminated", np.min).sum(axis=0),
        "wrong": with_run("wrong", np.max).sum(axis=0),
        "missing": with_run("missing", np.max).sum(axis=0),
    }


@njit
def play(policy, params, environment, rng, record):
    """Run one replicate patient by patient; the reference implementation of every policy. record: new."""
    M, n = params.design.M, params.design.n
    arrivals = np.zeros(M, np.int64)
    state = policy.init(params)
    for t in range(1, n + 1):
        feature = arrive(environment, t, rng)
        arm = policy.choose(params, state, feature, t, rng)
        admit(policy, arm, 2, t)
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
    # Copy single numbers: copies of whole arrays take seconds more to compile.
    for feature in range(M):
        both = state.viable[feature, 0] and state.viable[feature, 1]
        record.kept[feature] = BOTH if both else int(state.viable[feature, 1])
        record.estimate[feature] = state.trial.estimates[feature]
        record.floor_T_min[feature] = state.trial.floor_T_min[0]
        record.length[feature] = state.trial.lengths[feature]
        for arm in range(2):
            record.pulls[feature, arm] = state.trial.pulls[feature, arm]
            record.reward_sums[feature, arm] = state.trial.reward_sums[feature, arm]


@njit(inline="always")
def play_block(simulate, own, environment, rng, records):
    """Run one replicate per row of `records`, one after another on one stream.

    simulate(*own, environment, rng, record): `play`, or the policy's exact fast path
    """
    for i in range(len(records.regret)):
        row = Record(
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
        simulate(*own, environment, rng, row)
