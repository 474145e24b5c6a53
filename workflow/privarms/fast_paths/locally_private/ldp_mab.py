"""Fast path of LDPMAB, in every environment of its family.

It takes the steps of `policies.locally_private.ldp_mab` in the same order; equations are those of Ma et al. (2025).
The distribution of a run is the same, for these reasons:

- Cuts. The reference draws a bin's cut when it refines the bin; here all cuts are drawn at the start, independently of
  everything else. A grid gives the bin of a context (`_partition`).
- Noise. A source weighs 0 in a bin until the warm-up, (27), so nothing depends on its sums until then. The noise of
  all users since the last draw is drawn at once, as the difference of two gamma variates. It is exactly a sum of
  Laplace variates.
- Rewards. The sums of a bin change after a batch; its users are counted until then.
- Bins with one arm left. Such a bin and all its parts play this arm in every later round, so neither their sums nor
  their refinement matter. The bin is settled: its users send nothing that is simulated.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.fast_paths.locally_private._partition import Tree, draw_tree, find, refine
from privarms.mechanisms.laplace import laplace, laplace_sum


def record_type(*fields) -> np.dtype:
    """Return a structured type whose fields are attributes, in numba and in plain Python."""
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


# A bin of the tree.
BIN = record_type(
    ("t", np.int64),  # users of the current source while the bin is active, (9)
    ("owed", np.int64),  # users in the bin whose noise is not drawn yet; unused where every user adds noise
    ("here", np.int64),  # users of the current batch in the bin
    ("only", np.int64),  # the last arm left, or -1
    ("side", np.float64),  # 2^(-s/d), about the length of an edge
    ("stale", np.bool_),  # whether the chances of the arms have to be computed again
    ("weighed", np.bool_),  # whether an earlier source weighs anything
)
# An arm in a bin.
ARM = record_type(
    ("U", np.float64),  # noisy sums of the current source, (12) and (25)
    ("V", np.float64),
    ("N", np.float64),  # weighted sums of V, of U and of variances, (26) and (28), of earlier sources;
    ("D", np.float64),  # where sums are running, of earlier batches
    ("B", np.float64),
    ("estimate", np.float64),  # at the last look
    ("radius", np.float64),  # at the last look; infinite before the first
    ("chance", np.float64),  # that a user in the bin pulls this arm or one before it
    ("pulled", np.int64),  # users of the current batch who pulled the arm, without noise
    ("rewarded", np.int64),  # of them, those with reward 1
    ("active", np.bool_),
)
# What the algorithm does not know of an arm in a bin; kept only if misses are counted.
TRUTH = record_type(
    ("expected", np.float64),  # sum of the expected rewards of the current batch
    ("T", np.float64),  # sums of expected rewards, and of users, of the current source
    ("C", np.float64),
    ("E", np.float64),  # both weighted as N and D are: E / F is the expectation in (14)
    ("F", np.float64),
)
COUNTS = record_type(
    ("live", np.int64),  # bins that are followed
    ("removals", np.int64),  # arms that were eliminated in a bin
    ("looks", np.int64),  # at estimates with a finite radius
    ("misses", np.int64),  # of them, those farther from what they estimate than the radius, (14)
    # Of the target:
    ("in_parts", np.int64),  # users in a followed bin that is not the whole cube
    ("halvings", np.int64),  # halvings of these bins, summed over the users
    ("followed", np.int64),  # followed bins, summed over batches
    ("empty", np.int64),  # of them, those without a user in the batch
    ("alone", np.int64),  # of them, those with one user in the batch
)


class State(NamedTuple):
    """What a run knows; arrays change in place.

    tree: the partition; bins: BIN[bins]; arms: ARM[bins, K]; truths: TRUTH[bins, K]
    live: uint32[2**depth], the followed bins, the first `counts.live` of it; counts: COUNTS[1]
    removals: int64[..., 4], the first `counts.removals` rows: source, users of the source so far, bin, arm
    """

    tree: Tree
    bins: np.ndarray
    arms: np.ndarray
    truths: np.ndarray
    live: np.ndarray
    removals: np.ndarray
    counts: np.ndarray


@njit
def init(params, rng):
    """Return one bin, the whole cube, with every arm active, in a freshly drawn tree."""
    tree, K = draw_tree(params.depth, params.dimensions, rng), params.n_arms
    bins, leaves = len(tree.dimension), 2**params.depth
    state = State(
        tree,
        np.zeros(bins, BIN),
        np.zeros((bins, K), ARM),
        np.zeros((bins, K), TRUTH),
        np.zeros(leaves, np.uint32),
        np.zeros((leaves * (K - 1), 4), np.int64),
        np.zeros(1, COUNTS),
    )
    for i in range(bins):
        state.bins[i].only = -1
        state.bins[i].side = tree.sides[tree.depth[i]]
        state.bins[i].stale = True
        for k in range(K):
            state.arms[i, k].radius = np.inf
            state.arms[i, k].active = i == 0
    state.counts[0].live = 1
    return state


@njit(inline="always")
def weighs(params, t):
    """Return whether a source weighs anything in a bin after t users, (27)."""
    return (t > params.warm_up) | (params.at_warm_up & (t >= params.warm_up))


@njit(inline="always")
def weight(params, squared, U, t):
    """Return the weight of a source, (27), in an arm with noisy count U after t users; squared: its epsilon."""
    share = squared * U / t
    if params.absolute:
        share = abs(share)
    return min(share, 1.0) if weighs(params, t) else 0.0


@njit(inline="always")
def estimate(params, squared, t, arm):
    """Write the estimate of an arm, (13) and (26), and its radius, (14) and (28); return the source's weight."""
    share = weight(params, squared, arm.U, t)
    numerator = arm.N + share * arm.V
    denominator = arm.D + share * arm.U
    variance = arm.B + share * share * max(arm.U, t / squared)
    if not params.single_sum:
        arm.N, arm.D, arm.B = numerator, denominator, variance
    divisor = denominator + params.denominator
    value = numerator / divisor if divisor != 0 else 0.0
    arm.estimate = value if params.unclipped else min(max(value, 0.0), 1.0)
    radius = params.scale * np.sqrt(variance + params.offset) / abs(denominator)
    arm.radius = radius if denominator != 0 else np.inf
    return share


@njit(inline="always")
def half_width(params, side, arm):
    """Return how far the confidence interval of an arm in (16) and (29) reaches from the estimate."""
    width = params.width * arm.radius
    return width if params.no_floor else max(width, side)


@njit(inline="always")
def count_look(params, counts, arm, truth, share):
    """Count a look at an estimate, and a miss if its expectation, (14), is outside the radius."""
    total = truth.E + share * truth.T
    users = truth.F + share * truth.C
    if not params.single_sum:
        truth.E, truth.F = total, users
    expected = total / users if users != 0 else 0.0
    if arm.radius < np.inf:
        counts[0].looks += 1
        counts[0].misses += abs(arm.estimate - expected) > arm.radius


@njit(inline="always")
def count_messages(counts, halvings, here):
    """Count what a bin shows of the target's batch: halvings, of the bin; here, users in it."""
    if halvings > 0:
        counts[0].in_parts += here
        counts[0].halvings += here * halvings
    counts[0].followed += 1
    counts[0].empty += here == 0
    counts[0].alone += here == 1


@njit
def noise_of_many(scale, users, rng):
    """Return the sum of so many Lap(scale) variates; a few are drawn one by one, which is faster."""
    if users > 4:
        return laplace_sum(scale, users, rng)
    total = 0.0
    for _ in range(users):
        total += laplace(scale, rng)
    return total


@njit(inline="always")
def receive(params, scale, users, bins, arms, truths, i, misses, rng):
    """Add the messages of a batch to the sums of bin i, (12) and (25); return how many users are in the bin."""
    K, t, here = arms.shape[1], bins[i].t + users, bins[i].here
    bins[i].t = t
    if here > 0:
        bins[i].here = 0
        for k in range(K):
            arms[i, k].U += arms[i, k].pulled
            arms[i, k].V += arms[i, k].rewarded
            if misses:
                truths[i, k].C += arms[i, k].pulled
                truths[i, k].T += truths[i, k].expected
                truths[i, k].expected = 0.0
            arms[i, k].pulled = 0
            arms[i, k].rewarded = 0
    # Noise is drawn when the source weighs something: of all users so far, and then batch by batch.
    if params.every_user:
        owed = users if weighs(params, t - users) else t
    else:
        owed = bins[i].owed + here
    if owed > 0 and weighs(params, t):
        for k in range(K):
            if arms[i, k].active:
                if owed == 1:
                    arms[i, k].U += laplace(scale, rng)
                    arms[i, k].V += laplace(scale, rng)
                else:
                    arms[i, k].U += noise_of_many(scale, owed, rng)
                    arms[i, k].V += noise_of_many(scale, owed, rng)
        owed = 0
    bins[i].owed = owed
    return here


@njit
def settle(bins, arms, live, counts, place):
    """Follow the bin at a place of `live` no further: one arm is left."""
    i = live[place]
    for k in range(arms.shape[1]):
        if arms[i, k].active:
            bins[i].only = k
    counts[0].live -= 1
    live[place] = live[counts[0].live]


@njit
def halve(tree, arms, live, counts, place):
    """Refine the bin at a place of `live`, Algorithm 1."""
    i = live[place]
    refine(tree, i)
    left = 2 * i + 1
    for k in range(arms.shape[1]):
        arms[left, k].active = arms[i, k].active
        arms[left + 1, k].active = arms[i, k].active
    live[place] = left
    live[counts[0].live] = left + 1
    counts[0].live += 1


@njit(error_model="numpy", forceinline=True)
def update(params, state, source, users, seen, misses, rng):
    """The server's side of Algorithms 2 and 3, after a batch of so many users; seen: of the source, this batch too."""
    K, squared, scale = params.n_arms, params.epsilons[source] ** 2, 4 / params.epsilons[source]
    tree, bins, arms, truths, live, counts = state.tree, state.bins, state.arms, state.truths, state.live, state.counts
    # Backwards: the parts of a refined bin are appended, and the last bin takes the place of a settled one.
    for place in range(counts[0].live - 1, -1, -1):
        i = live[place]
        here = receive(params, scale, users, bins, arms, truths, i, misses, rng)
        if source == 0:
            count_messages(counts, tree.depth[i], here)
        t, side = bins[i].t, bins[i].side
        if t < params.warm_up and not (params.any_source and bins[i].weighed):
            continue
        best = -np.inf
        for k in range(K):
            if arms[i, k].active:
                share = estimate(params, squared, t, arms[i, k])
                if misses:
                    count_look(params, counts, arms[i, k], truths[i, k], share)
                best = max(best, arms[i, k].estimate - half_width(params, side, arms[i, k]))
        bins[i].stale = bins[i].stale or not params.uniform
        before, small_before, after, small_after = 0, 0, 0, 0
        for k in range(K):
            if arms[i, k].active:
                small = arms[i, k].radius < params.tau * side
                before += 1
                small_before += small
                # (16) and (29)
                if best > arms[i, k].estimate + half_width(params, side, arms[i, k]):
                    arms[i, k].active = False
                    bins[i].stale = True
                    row = state.removals[counts[0].removals]
                    row[0], row[1], row[2], row[3] = source, seen, i, k
                    counts[0].removals += 1
                else:
                    after += 1
                    small_after += small
        # (17)
        asked, small = (after, small_after) if params.after_removal else (before, small_before)
        if after == 1:
            settle(bins, arms, live, counts, place)
        elif tree.depth[i] < params.depth and (small > 0 if params.some_arm else small == asked):
            halve(tree, arms, live, counts, place)


@njit
def end_source(params, state, source):
    """Keep what a source contributes to the sums of the followed bins; those of the next source start at 0."""
    squared = params.epsilons[source] ** 2
    for place in range(state.counts[0].live):
        i = state.live[place]
        t = state.bins[i].t
        for k in range(params.n_arms):
            arm, truth = state.arms[i, k], state.truths[i, k]
            if params.single_sum and weighs(params, t):
                share = weight(params, squared, arm.U, t)
                arm.N += share * arm.V
                arm.D += share * arm.U
                arm.B += share * share * max(arm.U, t / squared)
                truth.E += share * truth.T
                truth.F += share * truth.C
            arm.U, arm.V, truth.T, truth.C = 0.0, 0.0, 0.0, 0.0
        state.bins[i].weighed = state.bins[i].weighed or weighs(params, t)
        state.bins[i].t = 0
        state.bins[i].owed = 0


@njit(error_model="numpy")
def set_chances(params, bins, arms, i):
    """Write the chances of the arms in bin i: uniform, (8), or those of the released program."""
    K, active, last, known = arms.shape[1], 0, 0, True
    lowest, highest = np.inf, -np.inf
    for k in range(K):
        if arms[i, k].active:
            active += 1
            last = k
            known &= arms[i, k].radius < np.inf
            lowest = min(lowest, arms[i, k].estimate)
            highest = max(highest, arms[i, k].estimate)
    between = highest - lowest
    slope = 0.0
    if not params.uniform and i > 0 and known and between >= 0.01:
        slope = np.log(1.2 * K / active) / (between + 1e-4)
    total = 0.0
    for k in range(K):
        if arms[i, k].active:
            total += np.exp(slope * arms[i, k].estimate) if slope != 0 else 1.0
        arms[i, k].chance = total
    for k in range(K):
        arms[i, k].chance = arms[i, k].chance / total if k < last else 1.0
    bins[i].stale = False


@njit(error_model="numpy", forceinline=True)
def stream(params, environment, state, source, checkpoints, rng, record):
    """All users of one source, batch by batch; for the target (0) the protocol's record is written."""
    n, K, tree, misses = params.users[source], params.n_arms, state.tree, record.misses
    shortcut, grid, dimension, cut, refined = tree.shortcut, tree.grid, tree.dimension, tree.cut, tree.refined
    bins, arms, truths, pulls = state.bins, state.arms, state.truths, record.pulls
    context, point = np.zeros(params.dimensions), np.full(params.dimensions, environment.point)
    shares, chances = np.zeros(K), np.zeros(K)
    regret, earned, next_checkpoint, user = 0.0, 0.0, 0, 0
    while user < n:
        first, last = user, min(user + params.batch, n)
        if source == 0:
            i = find(shortcut, grid, dimension, cut, refined, point)
            if bins[i].stale:
                set_chances(params, bins, arms, i)
            for k in range(K):
                chances[k] = arms[i, k].chance - (arms[i, k - 1].chance if k > 0 else 0.0)
        while user < last:
            environment.arrive(environment, source, user, context, rng)
            i = find(shortcut, grid, dimension, cut, refined, context)
            followed = bins[i].only < 0
            if source > 0:
                arm = environment.behave(environment, source, user, rng)
            elif followed:
                if bins[i].stale:
                    set_chances(params, bins, arms, i)
                u = rng.random()
                arm = 0
                for k in range(K - 1):
                    arm += u >= arms[i, k].chance
            else:
                arm = bins[i].only
            mean = environment.mean(environment, source, user, context, arm) if source == 0 or followed else 0.0
            if followed:
                bins[i].here += 1
                if arms[i, arm].active:
                    arms[i, arm].pulled += 1
                    arms[i, arm].rewarded += rng.random() < mean
                    if misses:
                        truths[i, arm].expected += mean
            user += 1
            if source == 0:
                best = environment.best(environment, source, user - 1, context)
                earned += mean
                pulls[arm] += 1
                if arm != best:
                    regret += environment.mean(environment, source, user - 1, context, best) - mean
                if next_checkpoint < len(checkpoints) and user == checkpoints[next_checkpoint]:
                    record.regret[next_checkpoint] = regret
                    record.rewards[next_checkpoint] = earned
                    for k in range(K):
                        record.shares[next_checkpoint, k] = shares[k] + (user - first) * chances[k]
                    next_checkpoint += 1
        for k in range(K):
            shares[k] += (last - first) * chances[k]
        update(params, state, source, last - first, last, misses, rng)


@njit
def simulate(params, environment, checkpoints, rng, record):
    """Simulate one replicate: the sources in their order, then the target; return the state at the end."""
    state = init(params, rng)
    for step in range(len(params.users)):
        source = (step + 1) % len(params.users)
        if params.users[source] > 0:
            stream(params, environment, state, source, checkpoints, rng, record)
            end_source(params, state, source)
    return state
