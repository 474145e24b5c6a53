"""Fast path of LDPMAB, in every environment of its family.

It takes the steps of `policies.locally_private.ldp_mab` in the same order; equations are those of Ma et al. (2025). The
distribution of a run is the same, for these reasons:

- Cuts. The reference implementation draws a bin's cut when it refines the bin; here all cuts are drawn at the start,
  independently of everything else. A grid gives the bin of a context (`_partition`).
- Noise. A source has the weight 0 in a bin until the warm-up, (27), so nothing depends on its sums until then. The
  noise of all users since the last draw is drawn at once, as the difference of two gamma variates. It is exactly a sum
  of Laplace variates.
- Rewards. The sums of a bin change only after a batch; until then its users are counted.
- Bins with one arm left. Such a bin and all its parts play this arm in every later round, so neither their sums nor
  their refinement matter. The bin is settled: the messages of its users are not simulated.

The rules, with their names in the reference implementation: `_ldp_mab_rules`. Counts for the protocol's records, which
decide nothing: `_ldp_mab_counts`. Here: `update`, the server's side after a batch, and `stream`, the users'.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.fast_paths.locally_private._ldp_mab_counts import COUNTS, TRUTH, count_look, count_messages
from privarms.fast_paths.locally_private._ldp_mab_rules import (
    ARM,
    eliminated,
    estimate,
    half_width,
    is_fine,
    is_narrow,
    radius,
    set_chances,
    sums,
    weighs,
)
from privarms.fast_paths.locally_private._partition import Tree, draw_tree, find, record_type, refine
from privarms.mechanisms.laplace import laplace, laplace_sum

# A bin of the tree.
BIN = record_type(
    ("t", np.int64),  # users of only the current source while the bin is active, (9): the reference's t[source]
    ("owed", np.int64),  # users in the bin whose noise is not drawn yet; unused where every user adds noise
    ("here", np.int64),  # users of the current batch in the bin
    ("only", np.int64),  # the last arm left, or -1
    ("stale", np.bool_),  # whether the chances of the arms have to be computed again
    ("weighed", np.bool_),  # whether an earlier source has a weight
)


class State(NamedTuple):
    """The state of a run; arrays change in place.

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
    state.bins["only"][:] = -1
    state.bins["stale"][:] = True
    state.arms["radius"][:] = np.inf
    state.arms["active"][0] = True
    state.counts[0].live = 1
    return state


@njit
def noise_of_many(scale, users, rng):
    """Return the sum of `users` Lap(scale) variates; a few are drawn one by one, which is faster."""
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
    """Stop following the bin at a place of `live`, because one arm is left."""
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
    """Update the server, Algorithms 2 and 3, after a batch; seen: users of the source, including the batch."""
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
        # Noise is drawn when the source has a weight: of all users so far, and then batch by batch.
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
        # Estimating reward functions.
        best = -np.inf
        for k in range(K):
            arm = arms[i, k]
            if arm.active:
                share, numerator, denominator, variance = sums(rules, squared, t, arm)
                if not rules.single_sum:
                    arm.N, arm.D, arm.B = numerator, denominator, variance
                arm.estimate = estimate(rules, numerator, denominator)
                arm.radius = radius(rules, denominator, variance)
                if misses:
                    count_look(rules, counts, arm, truths[i, k], share)
                best = max(best, arm.estimate - half_width(rules, node.side, arm))
        bin_.stale |= not rules.uniform
        # Eliminating arms. Refinement uses those that are left, or those before the elimination.
        left, asked, narrow = 0, 0, 0
        for k in range(K):
            arm = arms[i, k]
            if arm.active:
                gone = eliminated(rules, node.side, best, arm)
                if not (gone and rules.after_removal):
                    asked += 1
                    narrow += is_narrow(rules, node.side, arm)
                if gone:
                    arm.active = False
                    bin_.stale = True
                    row = state.removals[counts.removals]
                    row[0], row[1], row[2], row[3] = source, seen, i, k
                    counts.removals += 1
                else:
                    left += 1
        # Refining bins.
        if left == 1:
            settle(state, place)
        elif node.depth < params.depth and is_fine(rules, narrow, asked):
            halve(state, place)


@njit
def end_source(params, state, source):
    """Add a source's contribution to the sums of the followed bins; those of the next source start at 0."""
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


@njit(inline="always")
def stream(params, environment, state, source, checkpoints, rng, record):
    """Simulate all users of one source, batch by batch; for the target (0) write the protocol's record."""
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


@njit(inline="always")
def simulate(params, environment, checkpoints, rng, record):
    """Simulate one replicate: the sources in their order, then the target; return the state at the end."""
    state = init(params, rng)
    for step in range(len(params.users)):
        source = (step + 1) % len(params.users)
        if params.users[source] > 0:
            stream(params, environment, state, source, checkpoints, rng, record)
            end_source(params, state, source)
    return state
