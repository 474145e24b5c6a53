"""Contextual bandits whose users privatise their messages, after auxiliary sources: regret, arms, eliminations.

A policy's parameters have `n_arms`, `dimensions` and `users`: int64[sources], the users of each, the target's first.
"""

import copy
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms import fast_paths
from privarms.errors import PrivarmsError
from privarms.kernels.checks import refuse_not_finite
from privarms.kernels.loops import bound_loop, loop
from privarms.protocols._agreement import agree

FAMILY = "locally_private"
KEYS = ("t", "bin", "arm")
# Columns of the records about bins.
COUNTED = ("eliminations", "wrong", "looks", "misses")
GIVEN = ("in_parts", "halvings", "empty", "alone")
COLUMNS = {
    "regret": ("t", "regret", "reward"),
    "point": ("t", "arm", "regret", "share", "local_regret", "eliminated_after"),
    "eliminations": ("regret", *COUNTED, "auxiliary", "auxiliary_wrong", "lost"),
    "messages": ("regret", *GIVEN),
    "validity": ("regret", "reward", *COUNTED, "lost", *GIVEN),
    "partition": (
        *("t", "bin", "depth", "x_low", "x_high", "y_low", "y_high", "refined"),
        *("arm", "active", "estimate", "radius"),
    ),
}
RECORDS = tuple(COLUMNS)
# These records need a policy with bins.
BINNED = ("point", "eliminations", "messages")
# Records with the number of estimates that are outside their radius.
COUNT_MISSES = ("eliminations", "validity")
# Points along each edge of a bin, for the grid on which its best arm is judged.
POINTS = 16


class Record(NamedTuple):
    """The record of one replicate; overwritten.

    regret, rewards: float64[C], cumulative pseudo-regret and expected rewards of the target's users at each checkpoint
    shares: float64[C, K], the sum of the probabilities of each arm at the test point, 0 if the policy has none
    pulls: int64[K], of the target's users; misses: whether the policy counts estimates outside their radius
    """

    regret: np.ndarray
    shares: np.ndarray
    pulls: np.ndarray
    rewards: np.ndarray
    misses: bool


def new_record(checkpoints: int, arms: int, misses: bool = False) -> Record:
    """Return an empty record for a number of checkpoints and of arms."""
    shares, pulls = np.zeros((checkpoints, arms)), np.zeros(arms, np.int64)
    return Record(np.zeros(checkpoints), shares, pulls, np.zeros(checkpoints), misses)


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates over `cell.horizon` target users each, on the policy's stream; docs/output.md lists the columns.

    cell.record selects the rows, "regret" by default:
    - "point": at the environment's test point, `share` is the arm's mean probability up to t. `local_regret` is the
      cumulative expected regret if all users had this context. `eliminated_after` counts the target users before the
      arm was eliminated there (0 if in the auxiliary stage, nan if it was not).
    - "eliminations": of one arm in one bin each; `wrong` ones are of the arm that is best in the middle of the bin.
      `lost` is the probability that a target's context has lost its best arm.
    - "messages": what messages reveal if noise is drawn only for users in a bin (0 if for all). A bin with one arm left
      is not followed, so its users reveal nothing.
    - "validity": both, nan for a policy without bins; `wrong` and `lost` are nan for data, whose best arm is unknown.
    - "partition": for one run without sources; one row per checkpoint (rounded up to a whole batch), bin that has
      existed, and arm. `estimate` and `radius` are those of the last evaluation, nan before the first.

    Contexts and choices share one stream, so policies have no common random numbers. Only the order of users from a
    dataset is drawn on the environment's stream, so compared policies meet them in the same order.
    """
    agree(cell, params, K=environment.n_arms, dimensions=environment.dimensions)
    shuffle = getattr(environment, "shuffle", None)
    if shuffle is not None and cell.horizon > (users := environment.starts[1]):
        raise PrivarmsError(
            f"{cell.policy} on {cell.environment}: horizon: {cell.horizon:,} users, but the data have {users:,} target "
            "users; reduce the horizon"
        )
    simulate = fast_paths.find(policy, cell.environment)
    if cell.record == "partition":
        if cell.replicates > 1 or params.users[1:].any():
            raise ValueError(
                "record: partition is for one run without auxiliary users; set replicates to 1 and n_aux to 0"
            )
        return _partitions(policy, params, environment, cell.checkpoints, policy_rng, simulate)
    records = {
        "eliminations": _elimination_columns,
        "messages": _message_columns,
        "validity": _validity_columns,
    }
    record_of = records.get(cell.record, _regret_columns)
    if cell.record == "point":
        # Once for all replicates: calling a kernel takes as long as a short run.
        point = np.full(environment.dimensions, environment.point)
        means = loop(expected_rewards)(environment, point[None])[0]
        record_of = partial(_point_columns, point=point, gaps=means.max() - means)
    checkpoints = cell.checkpoints
    record = new_record(len(checkpoints), params.n_arms, misses=cell.record in COUNT_MISSES)
    run_once = _bound_run(policy, params, environment, checkpoints, policy_rng, record, simulate)
    parts = []
    for replicate in range(replicates):
        if shuffle is not None:
            loop(shuffle)(environment, environment_rng)
        state = run_once()
        refuse_not_finite(reward=record.rewards, regret=record.regret)
        if cell.record in BINNED and not hasattr(state, "tree"):
            raise ValueError(f"record: {cell.record} is for policies with bins; {cell.policy} has none; use regret")
        columns = record_of(params, environment, checkpoints, record, state)
        rows = len(next(iter(columns.values())))
        parts.append({"replicate": np.full(rows, replicate), **columns})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def run(policy, params, environment, checkpoints, rng, record, simulate=None):
    """Run one replicate, by `simulate` if given, into a `Record`; return the policy's final state."""
    return _bound_run(policy, params, environment, checkpoints, rng, record, simulate)()


def _bound_run(policy, params, environment, checkpoints, rng, record, simulate):
    """Return a function without arguments that does what `run` does."""
    common = params, environment, checkpoints, rng, record
    if simulate is not None:
        kernel = bound_loop(simulate, *common)
    else:
        kernel = bound_loop(play, policy.init, policy.choose, policy.learn, *common)

    def run_once():
        record.pulls.fill(0)
        return kernel()

    return run_once


@njit(inline="always")
def play(init, choose, learn, params, environment, checkpoints, rng, record):
    """Run one replicate user by user: the sources in their order, then the target."""
    state = init(params, rng)
    context = np.zeros(params.dimensions)
    regret, earned, next_checkpoint = 0.0, 0.0, 0
    for step in range(len(params.users)):
        source = (step + 1) % len(params.users)
        for user in range(params.users[source]):
            environment.arrive(environment, source, user, context, rng)
            if source > 0:
                arm = environment.behave(environment, source, user, rng)
            else:
                arm = choose(params, state, context, rng)
            mean = environment.mean(environment, source, user, context, arm)
            reward = 1.0 if rng.random() < mean else 0.0
            learn(params, state, source, user, context, arm, reward, rng)
            if source == 0:
                best = environment.best(environment, source, user, context)
                earned += mean
                record.pulls[arm] += 1
                if arm != best:
                    regret += environment.mean(environment, source, user, context, best) - mean
                if next_checkpoint < len(checkpoints) and user + 1 == checkpoints[next_checkpoint]:
                    record.regret[next_checkpoint] = regret
                    record.rewards[next_checkpoint] = earned
                    next_checkpoint += 1
    return state


def _regret_columns(params, environment, checkpoints, record, state):
    return {"t": checkpoints.copy(), "regret": record.regret.copy(), "reward": record.rewards.copy()}


def _point_columns(params, environment, checkpoints, record, state, point, gaps):
    arms = np.arange(environment.n_arms)
    local_regret = record.shares @ gaps
    # An eliminated arm is removed in all parts of the bin, so at most once on the way to the point.
    eliminated_after = np.full(len(arms), np.nan)
    removed = removals(state)
    source, users, _, arm = removed[holds(state.tree, removed[:, 2], point)].T
    eliminated_after[arm] = np.where(source == 0, users, 0)
    C = len(checkpoints)
    return {
        "t": np.repeat(checkpoints, len(arms)),
        "arm": np.tile(arms, C),
        "regret": np.repeat(record.regret, len(arms)),
        "share": (record.shares / checkpoints[:, None]).ravel(),
        "local_regret": np.repeat(local_regret, len(arms)),
        "eliminated_after": np.tile(eliminated_after, C),
    }


def _elimination_columns(params, environment, checkpoints, record, state):
    source, _, bins, arms = removals(state).T
    lower, upper = state.tree.lower[bins], state.tree.upper[bins]
    share = loop(share_with_best)
    wrong = share(environment, lower, upper, arms, 1) == 1
    lost = np.prod(upper - lower, axis=1) @ share(environment, lower, upper, arms, POINTS)
    counts = {"eliminations": len(arms), "wrong": wrong.sum()}
    counts |= {"auxiliary": (source > 0).sum(), "auxiliary_wrong": (wrong & (source > 0)).sum()}
    counts |= {name: state.counts[name][0] for name in ("looks", "misses")}
    return {
        "regret": record.regret[-1:].copy(),
        **{name: np.array([count], np.int64) for name, count in counts.items()},
        "lost": np.array([lost]),
    }


def _message_columns(params, environment, checkpoints, record, state):
    users, bins = int(params.users[0]), max(state.counts["followed"][0], 1)
    total = {"in_parts": users, "halvings": users, "empty": bins, "alone": users}
    # If every user adds noise to every bin, messages reveal nothing.
    shares = {name: np.zeros(1) if params.rules.every_user else state.counts[name] / of for name, of in total.items()}
    return {"regret": record.regret[-1:].copy()} | shares


def _validity_columns(params, environment, checkpoints, record, state):
    ends = {"regret": record.regret[-1:].copy(), "reward": record.rewards[-1:].copy()}
    if not hasattr(state, "tree"):
        return ends | {name: np.full(1, np.nan) for name in (*COUNTED, "lost", *GIVEN)}
    parts = _elimination_columns(params, environment, checkpoints, record, state)
    parts |= _message_columns(params, environment, checkpoints, record, state)
    if hasattr(environment, "shuffle"):
        # For data the best arm at a context is unknown.
        parts |= {name: np.full(1, np.nan) for name in ("wrong", "lost")}
    return ends | {name: parts[name].astype(float) for name in (*COUNTED, "lost", *GIVEN)}


def _partitions(policy, params, environment, checkpoints, rng, simulate):
    parts = []
    # A run that ended between two batches would evaluate sums at a time when the whole run does not.
    looks = np.unique(np.minimum(-(-checkpoints // params.batch) * params.batch, params.users[0]))
    for t in looks.tolist():
        users = np.zeros_like(params.users)
        users[0] = t
        record = new_record(1, params.n_arms)
        # The stream starts again, so this is the same run up to user t.
        start = copy.deepcopy(rng)
        state = run(policy, params._replace(users=users), environment, np.array([t]), start, record, simulate)
        columns = _bins(state, params.n_arms)
        parts.append({"t": np.full(len(columns["bin"]), t), **columns})
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {"replicate": np.zeros(len(joined["t"]), np.int64), **joined}


def _bins(state, K):
    tree = state.tree
    bins = np.concatenate([[0], *([2 * i + 1, 2 * i + 2] for i in np.flatnonzero(tree.nodes["refined"]))]).astype(
        np.int64
    )
    bins.sort()
    d = tree.lower.shape[1]
    second = (lambda corner: corner[bins, 1]) if d > 1 else (lambda corner: np.full(len(bins), np.nan))
    per_bin = {
        "bin": bins,
        "depth": tree.nodes["depth"][bins],
        "x_low": tree.lower[bins, 0],
        "x_high": tree.upper[bins, 0],
        "y_low": second(tree.lower),
        "y_high": second(tree.upper),
        "refined": tree.nodes["refined"][bins].astype(np.int64),
    }
    arms = state.arms[bins]
    looked_at = np.isfinite(arms["radius"])
    return {name: np.repeat(column, K) for name, column in per_bin.items()} | {
        "arm": np.tile(np.arange(K), len(bins)),
        "active": arms["active"].astype(np.int64).ravel(),
        "estimate": np.where(looked_at, arms["estimate"], np.nan).ravel(),
        "radius": np.where(looked_at, arms["radius"], np.nan).ravel(),
    }


def removals(state) -> np.ndarray:
    """Return the removals of a run in their order, int64[R, 4]: source, users of the source so far, bin, arm."""
    return state.removals[: state.counts["removals"][0]]


def holds(tree, bins: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return whether bins contain a point of the cube; bins are half-open, closed where a coordinate is 1."""
    lower, upper = tree.lower[bins], tree.upper[bins]
    return ((lower <= point) & ((point < upper) | (upper == 1))).all(axis=-1)


@njit(inline="always")
def expected_rewards(environment, contexts):
    """Return float64[points, K], the expected reward of every arm for target users with these contexts."""
    means = np.zeros((len(contexts), environment.n_arms))
    for j in range(len(contexts)):
        for arm in range(environment.n_arms):
            means[j, arm] = environment.mean(environment, 0, 0, contexts[j], arm)
    return means


@njit(inline="always")
def share_with_best(environment, lower, upper, arms, points):
    """Return the share of each bin in which `arms` is the best arm of target users: float64[bins].

    points: along each edge of a bin; they are the middles of equal cells
    """
    bins, dimensions = lower.shape
    shares, context = np.zeros(bins), np.zeros(dimensions)
    for i in range(bins):
        for cell in range(points**dimensions):
            for k in range(dimensions):
                middle = (cell // points**k % points + 0.5) / points
                context[k] = lower[i, k] + (upper[i, k] - lower[i, k]) * middle
            shares[i] += environment.best(environment, 0, 0, context) == arms[i]
    return shares / points**dimensions
