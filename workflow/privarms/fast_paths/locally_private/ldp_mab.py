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

from privarms.fast_paths.locally_private._partition import Tree, draw_tree, find, record_type, refine
from privarms.mechanisms.laplace import laplace, laplace_sum

# A bin of the tree.
BIN = record_type(
    ("t", np.int64),  # users of the current source while the bin is active, (9)
    ("owed", np.int64),  # users in the bin whose noise is not drawn yet; unused where every user adds noise
    ("here", np.int64),  # users of the current batch in the bin
    ("only", np.int64),  # the last arm left, or -1
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
    ("total", np.float64),  # sums of expected rewards, and of users, of the current source
    ("users", np.float64),
    ("weighted_total", np.float64),  # weighted as N and D are: their ratio is the expectation in (14)
    ("weighted_users", np.float64),
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
    bins, leaves = len(tree.nodes), 2**params.depth
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
        state.bins[i].stale = True
        for k in range(K):
            state.arms[i, k].radius = np.inf
            state.arms[i, k].active = i == 0
    state.counts[0].live = 1
    return state


# The functions that are inlined get numbers, records and `Rules`, which hold no array: numba counts the references to
# every array that is passed on, which in a loop over bins takes longer than the work itself.


@njit(inline="always")
def weighs(rules, t):
    """Return whether a source weighs anything in a bin after t users, (27)."""
    return (t > rules.warm_up) | (rules.at_warm_up & (t >= rules.warm_up))


@njit(inline="always")
def weight(rules, squared, U, t):
    """Return the weight of a source, (27), for a noisy count U after t users; squared: its epsilon, squared."""
    share = squared * U / t
    return min(abs(share) if rules.absolute else share, 1.0) if weighs(rules, t) else 0.0


@njit(inline="always")
def sums(rules, squared, t, arm):
    """Return the source's weight, and the numerator, denominator and sum of variances of (26) and (28)."""
    share = weight(rules, squared, arm.U, t)
    return share, arm.N + share * arm.V, arm.D + share * arm.U, arm.B + share * share * max(arm.U, t / squared)


@njit(inline="always")
def estimate(rules, squared, t, arm):
    """Write the estimate of an arm, (13) and (26), and its radius, (14) and (28); return the source's weight."""
    share, numerator, denominator, variance = sums(rules, squared, t, arm)
    if not rules.single_sum:
        arm.N, arm.D, arm.B = numerator, denominator, variance
    divisor = denominator + rules.denominator
    value = numerator / divisor if divisor != 0 else 0.0
    arm.estimate = value if rules.unclipped else min(max(value, 0.0), 1.0)
    radius = rules.scale * np.sqrt(variance + rules.offset) / abs(denominator)
    arm.radius = radius if denominator != 0 else np.inf
    return share


@njit(inline="always")
def half_width(rules, side, arm):
    """Return half the width of an arm's confidence interval in (16) and (29)."""
    width = rules.width * arm.radius
    return width if rules.no_floor else max(width, side)


@njit(inline="always")
def count_look(rules, counts, arm, truth, share):
    """Count a look at an estimate, and a miss if its expectation, (14), is outside the radius."""
    total = truth.weighted_total + share * truth.total
    users = truth.weighted_users + share * truth.users
    if not rules.single_sum:
        truth.weighted_total, truth.weighted_users = total, users
    expected = total / users if users != 0 else 0.0
    if arm.radius < np.inf:
        counts.looks += 1
        counts.misses += abs(arm.estimate - expected) > arm.radius


@njit(inline="always")
def count_messages(counts, halvings, here):
    """Count what the target's batch shows of a bin: halvings, of the bin; here, users in it."""
    if halvings > 0:
        counts.in_parts += here
        counts.halvings += here * halvings
    counts.followed += 1
    counts.empty += here == 0
    counts.alone += here == 1


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
def add_batch(arm, truth):
    """Add the users of a batch to the sums of an arm, without noise."""
    arm.U += arm.pulled
    arm.V += arm.rewarded
    truth.users += arm.pulled
    truth.total += truth.expected
    arm.pulled, arm.rewarded, truth.expected = 0, 0, 0.0


@njit
def settle(state, place):
    """Follow the bin at a place of `live` no further: one arm is left."""
    live, counts = state.live, state.counts[0]
    i = live[place]
    for k in range(state.arms.shape[1]):
        if state.arms[i, k].active:
            state.bins[i].only = k
    counts.live -= 1
    live[place] = live[counts.live]


@njit
def halve(state, place):
    """Refine the bin at a place of `live`, Algorithm 1."""
    live, counts = state.live, state.counts[0]
    i = live[place]
    refine(state.tree, i)
    for part in range(2 * i + 1, 2 * i + 3):
        for k in range(state.arms.shape[1]):
            state.arms[part, k].active = state.arms[i, k].active
    live[place] = 2 * i + 1
    live[counts.live] = 2 * i + 2
    counts.live += 1


@njit(error_model="numpy", forceinline=True)
def update(params, state, source, users, seen, misses, rng):
    """The server's side of Algorithms 2 and 3 after a batch of so many users; seen: of the source, this batch too."""
    rules, K, squared, scale = params.rules, params.n_arms, params.epsilons[source] ** 2, 4 / params.epsilons[source]
    nodes, bins, arms, truths, live = state.tree.nodes, state.bins, state.arms, state.truths, state.live
    counts = state.counts[0]
    # Backwards: the parts of a refined bin are appended, and the last bin takes the place of a settled one.
    for place in range(counts.live - 1, -1, -1):
        i = live[place]
        node, bin_ = nodes[i], bins[i]
        here, t = bin_.here, bin_.t + users
        if source == 0:
            count_messages(counts, node.depth, here)
        # Noise is drawn when the source weighs something: of all users so far, and then batch by batch.
        owed = bin_.owed + here
        if rules.every_user:
            owed = users if weighs(rules, t - users) else t
        bin_.t, bin_.owed, bin_.here = t, owed, 0
        if here > 0:
            for k in range(K):
                add_batch(arms[i, k], truths[i, k])
        if owed > 0 and weighs(rules, t):
            bin_.owed = 0
            for k in range(K):
                arm = arms[i, k]
                # (12) and (25)
                if arm.active and owed == 1:
                    arm.U += laplace(scale, rng)
                    arm.V += laplace(scale, rng)
                elif arm.active:
                    arm.U += noise_of_many(scale, owed, rng)
                    arm.V += noise_of_many(scale, owed, rng)
        if t < rules.warm_up and not (rules.any_source and bin_.weighed):
            continue
        highest = -np.inf
        for k in range(K):
            arm = arms[i, k]
            if arm.active:
                share = estimate(rules, squared, t, arm)
                if misses:
                    count_look(rules, counts, arm, truths[i, k], share)
                highest = max(highest, arm.estimate - half_width(rules, node.side, arm))
        bin_.stale |= not rules.uniform
        before, small_before, after, small_after = 0, 0, 0, 0
        for k in range(K):
            arm = arms[i, k]
            if arm.active:
                small = arm.radius < rules.tau * node.side
                before += 1
                small_before += small
                # (16) and (29)
                if highest > arm.estimate + half_width(rules, node.side, arm):
                    arm.active = False
                    bin_.stale = True
                    row = state.removals[counts.removals]
                    row[0], row[1], row[2], row[3] = source, seen, i, k
                    counts.removals += 1
                else:
                    after += 1
                    small_after += small
        # (17)
        asked, small = (after, small_after) if rules.after_removal else (before, small_before)
        if after == 1:
            settle(state, place)
        elif node.depth < params.depth and (small > 0 if rules.some_arm else small == asked):
            halve(state, place)


@njit
def end_source(params, state, source):
    """Keep what a source contributes to the sums of the followed bins; those of the next source start at 0."""
    rules, squared = params.rules, params.epsilons[source] ** 2
    for place in range(state.counts[0].live):
        i = state.live[place]
        t = state.bins[i].t
        for k in range(params.n_arms):
            arm, truth = state.arms[i, k], state.truths[i, k]
            if rules.single_sum and weighs(rules, t):
                share, arm.N, arm.D, arm.B = sums(rules, squared, t, arm)
                truth.weighted_total += share * truth.total
                truth.weighted_users += share * truth.users
            arm.U, arm.V, truth.total, truth.users = 0.0, 0.0, 0.0, 0.0
        state.bins[i].weighed = state.bins[i].weighed or weighs(rules, t)
        state.bins[i].t = 0
        state.bins[i].owed = 0


@njit(error_model="numpy")
def set_chances(rules, bins, arms, i):
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
    if not rules.uniform and i > 0 and known and between >= 0.01:
        slope = np.log(1.2 * K / active) / (between + 1e-4)
    total = 0.0
    for k in range(K):
        if arms[i, k].active:
            total += np.exp(slope * arms[i, k].estimate) if slope != 0 else 1.0
        arms[i, k].chance = total
    for k in range(K):
        arms[i, k].chance = arms[i, k].chance / total if k < last else 1.0
    bins[i].stale = False


@njit(error_model="numpy")
def stream(params, environment, state, source, checkpoints, rng, record):
    """All users of one source, batch by batch; for the target (0) the protocol's record is written."""
    n, K, tree, misses = params.users[source], params.n_arms, state.tree, record.misses
    rules, nodes, shortcut, grid = params.rules, tree.nodes, tree.shortcut, tree.grid
    bins, arms, truths, pulls = state.bins, state.arms, state.truths, record.pulls
    context, point = np.zeros(params.dimensions), np.full(params.dimensions, environment.point)
    shares, chances = np.zeros(K), np.zeros(K)
    regret, earned, next_checkpoint, user = 0.0, 0.0, 0, 0
    while user < n:
        first, last = user, min(user + params.batch, n)
        if source == 0:
            i = find(nodes, shortcut, grid, point)
            if bins[i].stale:
                set_chances(rules, bins, arms, i)
            for k in range(K):
                chances[k] = arms[i, k].chance - (arms[i, k - 1].chance if k > 0 else 0.0)
        while user < last:
            environment.arrive(environment, source, user, context, rng)
            i = find(nodes, shortcut, grid, context)
            followed = bins[i].only < 0
            if source > 0:
                arm = environment.behave(environment, source, user, rng)
            elif followed:
                if bins[i].stale:
                    set_chances(rules, bins, arms, i)
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
