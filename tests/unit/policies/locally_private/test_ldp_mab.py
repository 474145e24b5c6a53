"""The locally private bandit: trees, constants by hand, every decision against the plain reference, bad input."""

import itertools
import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from privarms.environments import exponential, symmetric
from privarms.errors import PrivarmsError
from privarms.jit import cache as compiled
from privarms.policies.locally_private import _counts, _partition, _user_by_user, ldp_mab
from privarms.protocols import locally_private


@pytest.mark.parametrize(("depth", "d"), [(0, 2), (1, 1), (5, 2), (7, 3)])
def test_the_tree_halves_a_longest_edge_at_its_midpoint(depth, d):
    tree = _partition.draw_tree(depth, d, np.random.default_rng(1))
    assert len(tree.dimension) == 2 ** (depth + 1) - 1
    for i in range(2**depth - 1):
        k, left, right = tree.dimension[i], 2 * i + 1, 2 * i + 2
        edges = tree.upper[i] - tree.lower[i]
        assert edges[k] == edges.max()
        assert tree.cut[i] == tree.lower[i, k] + edges[k] / 2
        assert tree.upper[left, k] == tree.lower[right, k] == tree.cut[i]
        others = np.arange(d) != k
        for child in (left, right):
            assert tree.depth[child] == tree.depth[i] + 1
            assert (tree.lower[child, others] == tree.lower[i, others]).all()
            assert (tree.upper[child, others] == tree.upper[i, others]).all()
        assert tree.lower[left, k] == tree.lower[i, k]
        assert tree.upper[right, k] == tree.upper[i, k]


def test_ties_between_longest_edges_are_broken_uniformly():
    rng = np.random.default_rng(2)
    first = np.array([_partition.draw_tree(2, 3, rng).dimension[:3] for _ in range(3000)])
    counts = np.bincount(first[:, 0], minlength=3)
    # 5 standard deviations of a binomial.
    assert (abs(counts - 1000) < 5 * math.sqrt(3000 * 2 / 9)).all()
    assert (first[:, 1] != first[:, 0]).all()


def find(tree, context):
    context = np.asarray(context, float)
    return _partition.find(tree.shortcut, tree.grid, tree.dimension, tree.cut, tree.refined, context)


def test_bins_are_closed_on_the_left_and_at_one():
    tree = _partition.draw_tree(3, 1, np.random.default_rng(3))
    for i in (0, 2):
        _partition.refine(tree, i)
    points = (0, 0.49, 0.5, 0.74, 0.75, 1)
    found = [find(tree, [x]) for x in points]
    assert found == [1, 1, 5, 5, 6, 6]
    for i, x in zip(found, points, strict=True):
        assert locally_private.holds(tree, i, np.array([x]))
    assert not locally_private.holds(tree, 1, np.array([0.5]))
    assert [find(tree, [x]) for x in (-0.3, 1.7)] == [1, 6]


@pytest.mark.parametrize(("depth", "d"), [(0, 2), (1, 1), (5, 2), (12, 2), (7, 3), (8, 5), (4, 13)])
def test_the_bin_of_a_context_is_the_one_that_holds_it(depth, d):
    # With d = 5 bins are finer than the grid, with d = 13 it is a single cell.
    rng = np.random.default_rng(depth)
    tree = _partition.draw_tree(depth, d, rng)
    leaves = {0}
    for _ in range(40):
        inner = [i for i in leaves if tree.depth[i] < depth]
        if not inner:
            break
        # The latest half of the time, so that some bins are as small as can be.
        i = int(max(inner) if rng.random() < 0.5 else rng.choice(inner))
        _partition.refine(tree, i)
        leaves = leaves - {i} | {2 * i + 1, 2 * i + 2}
    assert max(tree.depth[i] for i in leaves) == depth
    corners = [tree.lower[i] for i in leaves] + [tree.upper[i] for i in leaves]
    for x in [*corners, *rng.random((50, d))]:
        assert [i for i in leaves if locally_private.holds(tree, i, x)] == [find(tree, x)]


def test_constants_of_figure_7a_by_hand():
    # n = 10,000, M = 2 empty sources: log2 n = 13.29, w = 169. log2(2 n 3) = 15.87: half of it is 7.94, a third 5.29.
    released = ldp_mab.configure(3, 10_000, 1.0, "as_released")
    assert (released.warm_up, released.depth, released.batch) == (169, 5, 100)
    assert released.scale == pytest.approx(math.sqrt(2 * 13.2877), rel=1e-5)
    assert ldp_mab.configure(3, 10_000, 1024.0, "as_released").depth == 7
    # Without sources log2(2 n) = 14.29, a third of it 4.76.
    assert ldp_mab.configure(3, 10_000, 1.0, "as_released", M=0).depth == 4
    # n* = n eps^2 = 2500 with eps = 1/2: floor(11.29)^2.
    assert ldp_mab.configure(3, 10_000, 0.5, "as_released").warm_up == 121
    printed = ldp_mab.configure(3, 10_000, 1.0, "as_printed", c=64.0)
    assert printed.warm_up == pytest.approx(9.2103**2, rel=1e-4)
    assert printed.scale == pytest.approx(8 * math.sqrt(9.2103), rel=1e-5)
    assert printed.tau == pytest.approx(2.8284, rel=1e-4)
    assert (printed.batch, printed.depth, printed.offset) == (1, ldp_mab.PRINTED_DEPTH, 0)


def test_sources_have_their_own_budgets_in_their_order():
    params = ldp_mab.configure(3, 1000, 1.0, "as_released", M=2, n_aux=500, epsilon_aux="2 8")
    assert params.epsilons.tolist() == [1, 2, 8]
    assert params.users.tolist() == [1000, 500, 500]
    assert ldp_mab.configure(3, 1000, 1.0, "as_released", M=3, epsilon_aux=4).epsilons.tolist() == [1, 4, 4, 4]


def test_switches_make_one_variant_the_other():
    printed, released = (ldp_mab.configure(3, 10_000, 2.0, variant) for variant in ("as_printed", "as_released"))
    for one, other in ((printed, "as_released"), (released, "as_printed")):
        switched = ldp_mab.configure(3, 10_000, 2.0, other, deviation=" ".join(ldp_mab.DEVIATIONS))
        for name in one._fields:
            assert np.array_equal(getattr(one, name), getattr(switched, name)), name


class Scripted(NamedTuple):
    """Users written down beforehand; rewards are 0 or 1, so that nothing is left to chance."""

    arrive: object
    behave: object
    mean: object
    point: float
    contexts: np.ndarray
    arms: np.ndarray
    rewards: np.ndarray


class ScriptedTarget(NamedTuple):
    """The same with a best arm, which the target's users ask for."""

    arrive: object
    behave: object
    best: object
    mean: object
    point: float
    contexts: np.ndarray
    arms: np.ndarray
    rewards: np.ndarray


def always_first(environment, source, user, context):
    return 0


def arrive(environment, source, user, context, rng):
    context[:] = environment.contexts[source, user]


def behave(environment, source, user, rng):
    return environment.arms[source, user]


def mean(environment, source, user, context, arm):
    return environment.rewards[source, user, arm]


def scripted_noise(scale, count=1):
    """Additive in the count, so that noise owed for many users is the sum of that of each."""
    return 0.03 * scale * count


VARIANTS = [
    {"variant": "as_released", "batch": 20},
    {"variant": "as_printed", "batch": 7},
    # Users one by one, and not at the warm-up's end, where the noise of all before is drawn, but after it.
    {"variant": "as_printed", "batch": 1},
    {"variant": "as_printed", "batch": 1, "deviation": "first_weight"},
    {"variant": "as_released", "batch": 1, "deviation": "noise"},
    {"variant": "as_released", "batch": 1},
    *(
        {"variant": "as_released", "batch": 20, "deviation": name}
        for name in ldp_mab.DEVIATIONS
        if name not in ("choice", "batch")
    ),
    {"variant": "as_printed", "batch": 15, "deviation": "noise band"},
    {"variant": "as_printed", "batch": 30, "deviation": "estimator weights"},
    {"variant": "as_printed", "batch": 15, "deviation": "clip denominator sign"},
    {"variant": "as_printed", "batch": 10, "deviation": "width first_weight arms"},
    {"variant": "as_printed", "batch": 10, "deviation": "asked arms"},
    # Radii so small that estimates are outside.
    {"variant": "as_printed", "batch": 15, "c": 0.002},
]


UNCOMPILED = (
    "_refresh",
    "_noise",
    "_learn",
    "_list_noisy",
    "_receive",
    "_receive_one",
    "_weight",
    "_add_up",
    "_may_change",
    "_estimate",
    "_count_misses",
    "_is_any_worse",
    "_decide",
    "_occupy",
    "_vacate",
    "end_source",
)


def run_in_python(monkeypatch):
    for name in UNCOMPILED:
        function = getattr(ldp_mab, name).py_func
        monkeypatch.setattr(ldp_mab, name, function)
        if hasattr(ldp_mab, f"{name}_apart"):
            monkeypatch.setattr(ldp_mab, f"{name}_apart", function)


@pytest.mark.parametrize("switches", VARIANTS, ids=lambda s: "-".join(map(str, s.values())))
def test_every_decision_is_the_plain_reference_s(switches, monkeypatch):
    users, rng = 600, np.random.default_rng(4)
    contexts = np.where(
        rng.random((3, users, 1)) < 0.1, rng.integers(0, 9, (3, users, 1)) / 8, rng.random((3, users, 1))
    )
    best = (3 * contexts[..., 0]).astype(int).clip(0, 2)
    rewards = (rng.random((3, users, 3)) < np.where(np.arange(3) == best[..., None], 0.95, 0.05)).astype(float)
    environment = Scripted(arrive, behave, mean, 0.3, contexts, rng.integers(0, 3, (3, users)), rewards)
    settings = {"M": 2, "n_aux": users - 40, "epsilon_aux": "40 15", "dimensions": 1, "c": 0.1, **switches}
    params = ldp_mab.configure(3, users, 25.0, **settings)

    server = _user_by_user.Server(
        params, lambda scale, shape: np.full(shape, scripted_noise(scale)), lambda ties: ties[0]
    )
    # In one dimension there is one way to cut.
    state = ldp_mab.init(params, rng)
    run_in_python(monkeypatch)
    monkeypatch.setattr(ldp_mab, "_noise", lambda scale, count, rng: scripted_noise(scale, count))
    monkeypatch.setattr(ldp_mab, "laplace", lambda scale, rng: scripted_noise(scale))
    record = locally_private.new_record(0, 3, misses=True)
    # The sources alone: the target's sums are used as theirs, and its arms are left to chance.
    for m in (1, 2):
        ldp_mab.stream.py_func(params, environment, state, m, np.empty(0, int), rng, record)
        n = params.users[m]
        for user in range(n):
            arm = environment.arms[m, user]
            # Rewards are certain.
            server.receive(m, contexts[m, user], arm, rewards[m, user, arm], rewards[m, user, arm])
            if (user + 1) % params.batch == 0 or user + 1 == n:
                server.update(m, user + 1)
        ldp_mab.end_source(params, state, m)

    corner, depth = state.tree.lower[:, 0], state.tree.depth
    removals = [(m, seen, (corner[i],), depth[i], k) for m, seen, i, k in locally_private.removals(state)]
    assert sorted(removals) == sorted(server.removals)
    # Bins with one arm are not followed.
    refined = sorted((corner[i], depth[i]) for i in np.flatnonzero(state.tree.refined))
    assert refined == sorted((lower[0], s) for lower, s, arms in server.refined if len(arms) > 1)
    assert len(refined) >= 2
    # Else the comparison would say little.
    assert len(removals) >= 5
    # As many looks, and as many of them outside the radius.
    assert state.counts[[_counts.LOOKS, _counts.MISSES]].tolist() == [server.looks, server.misses]
    assert server.looks > server.misses
    assert server.misses > 0 or settings["c"] == 0.1
    # The estimates of the bins that are left, in the last digits.
    left = {(B.lower[0], B.s): B for B in server.bins}
    for i in state.live[: state.n_live[0]]:
        B = left[corner[i], depth[i]]
        for k, f in B.f.items():
            assert state.estimates[i, k] == pytest.approx(f, rel=1e-9, abs=1e-12)
            assert state.radii[i, k] == pytest.approx(B.r[k], rel=1e-9)


# The last has no source, so that the target's users meet the whole cube.
@pytest.mark.parametrize(
    ("deviation", "M"), [("", 1), ("first_weight", 1), ("warm_up", 1), ("sums arms", 1), ("choice", 1), ("", 0)]
)
def test_noise_is_the_same_to_the_bit_where_its_sums_are_listed(deviation, M, monkeypatch):
    users = 500
    settings = {"M": M, "n_aux": users, "epsilon_aux": 60, "c": 0.05, "deviation": deviation}
    params = ldp_mab.configure(3, users, 40.0, "as_printed", **settings)._replace(depth=3)
    environment = exponential.configure(3, "as_printed")
    run_in_python(monkeypatch)
    for name in ("arrive", "behave", "best", "mean"):
        environment = environment._replace(**{name: getattr(environment, name).py_func})
    found = []
    for listed in (True, False):
        monkeypatch.setattr(ldp_mab, "_one_by_one", lambda params, listed=listed: listed)
        rng, record = np.random.default_rng(7), locally_private.new_record(2, 3)
        state = ldp_mab.init(params, rng)
        for source in range(M, -1, -1):
            ldp_mab.stream.py_func(params, environment, state, source, np.array([90, users]), rng, record)
            ldp_mab.end_source(params, state, source)
        found.append((state, record, rng.random()))
    (one, one_record, one_next), (other, other_record, other_next) = found
    assert one_next == other_next
    assert all(np.array_equal(a, b) for a, b in zip(one_record, other_record, strict=True))
    for name in ("sums", "removals", "counts", "arms", "only", "live"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    # Else the list would never have changed.
    assert one.n_removals[0] >= 2
    assert one.tree.refined.sum() >= 2


# Of a bin: U, V, N, D, B, estimates and radii, which the algorithm computes; the rest is about misses.
COMPUTED = 7


def assert_same_but_for_misses(one, other):
    """Two runs, each a state, a record and the next random number."""
    assert one[2] == other[2]
    assert all(np.array_equal(a, b) for a, b in zip(one[1][:-1], other[1][:-1], strict=True))
    assert np.array_equal(one[0].sums[..., :COMPUTED], other[0].sums[..., :COMPUTED])
    assert np.array_equal(one[0].counts[_counts.IN_PARTS :], other[0].counts[_counts.IN_PARTS :])
    for name in ("removals", "arms", "only", "live", "ready", "chances"):
        assert np.array_equal(getattr(one[0], name), getattr(other[0], name)), name
    assert np.array_equal(one[0].tree.refined, other[0].tree.refined)


@pytest.mark.parametrize("deviation", ["", "band", "batch"])
def test_sums_are_looked_at_only_where_something_may_change(deviation, monkeypatch):
    users, looks = 500, []
    settings = {"M": 1, "n_aux": users, "epsilon_aux": 60, "c": 0.05, "deviation": deviation}
    params = ldp_mab.configure(3, users, 40.0, "as_printed", **settings)._replace(depth=3)
    environment = exponential.configure(3, "as_printed")
    run_in_python(monkeypatch)
    for name in ("arrive", "behave", "best", "mean"):
        environment = environment._replace(**{name: getattr(environment, name).py_func})
    estimate = ldp_mab._estimate

    def counted(params, state, lanes, source, users, asked):
        looks[-1] += asked
        return estimate(params, state, lanes, source, users, asked)

    monkeypatch.setattr(ldp_mab, "_estimate", counted)
    found = []
    for misses in (True, False):
        looks.append(0)
        rng, record = np.random.default_rng(7), locally_private.new_record(2, 3, misses)
        state = ldp_mab.init(params, rng)
        for source in (1, 0):
            ldp_mab.stream.py_func(params, environment, state, source, np.array([90, users]), rng, record)
            ldp_mab.end_source(params, state, source)
        found.append((state, record, rng.random()))
    assert_same_but_for_misses(*found)
    assert found[0][0].n_removals[0] >= 2
    assert found[0][0].tree.refined.sum() >= 2
    assert looks[0] == 2 * users / params.batch
    assert looks[1] < looks[0] * (0.2 if params.batch == 1 else 1)


@pytest.mark.parametrize("deviation", ["", "band", "split", "batch", "noise", "denominator", "choice", "estimator"])
@pytest.mark.parametrize("variant", ["as_printed", "as_released"])
def test_misses_are_counted_beside_the_algorithm(variant, deviation):
    environment = exponential.configure(3, variant, gamma=1.0)
    removals = refined = 0
    for epsilon, c, n_aux in itertools.product((0.5, 8.0, 1024.0), (0.02, 2.0), (0, 1500)):
        settings = {"M": 1, "n_aux": n_aux, "epsilon_aux": 20.0, "c": c, "deviation": deviation}
        params = ldp_mab.configure(3, 2000, epsilon, variant, **settings)
        found = []
        for misses in (True, False):
            rng, record = np.random.default_rng(11), locally_private.new_record(2, 3, misses)
            state = locally_private.run(ldp_mab, params, environment, np.array([333, 2000]), rng, record)
            found.append((state, record, rng.random()))
        assert_same_but_for_misses(*found)
        removals += found[0][0].n_removals[0]
        refined += found[0][0].tree.refined.sum()
        assert found[0][0].counts[_counts.LOOKS] > 0
        assert not found[1][0].counts[: _counts.IN_PARTS].any()
    assert removals >= 10
    assert refined >= 30


def test_lanes_keep_their_numbers_where_there_is_more_room():
    lanes = np.arange(2.0 * ldp_mab.COLUMNS).reshape(2, -1)
    assert np.array_equal(ldp_mab._with_room(lanes, 16), lanes)
    longer = ldp_mab._with_room(lanes, 17)
    assert longer.shape == (3, ldp_mab.COLUMNS)
    assert np.array_equal(longer[:2], lanes)
    assert not longer[2].any()


def test_a_bin_takes_what_is_known_to_a_place_and_back():
    # Eleven arms: a place of two rows, beside others.
    params = ldp_mab.configure(11, 1000, 1.0, "as_printed", M=0)._replace(depth=2)
    state = ldp_mab.init(params, np.random.default_rng(1))
    state.live[:3], state.arms[5], state.t[5] = [3, 5, 4], 0b101, 77
    state.sums[:] = np.random.default_rng(2).random(state.sums.shape)
    known = state.sums.copy()
    lanes = np.zeros((5, ldp_mab.COLUMNS))
    for place in (0, 2, 1):
        ldp_mab._occupy(params, state, lanes, place)
    state.sums[:], state.t[:] = 0.0, 0
    for place in range(3):
        ldp_mab._vacate(params, state, lanes, place)
    assert np.array_equal(state.sums[[3, 4, 5]], known[[3, 4, 5]])
    assert not state.sums[[0, 1, 2, 6]].any()
    assert state.t.tolist() == [0, 0, 0, 0, 0, 77, 0]
    # Arms that are gone are never looked at, the others after the warm-up.
    by_lane = lanes.reshape(5, -1, ldp_mab.LANES).transpose(0, 2, 1).reshape(40, -1)
    first = by_lane[11:22, ldp_mab._FROM // ldp_mab.LANES]
    assert np.isinf(first).tolist() == [k not in (0, 2) for k in range(11)]
    assert first[[0, 2]].tolist() == [params.warm_up] * 2


def test_the_policy_by_hand():
    # Two of three arms with estimates 0.2 and 0.7: odds exp(f ln(1.8) / 0.5001).
    chances, places = np.zeros((3, 3)), np.array([2, 0, 1])
    arms, lanes = np.array([7, 5, 2]), np.zeros((2, ldp_mab.COLUMNS))
    lanes[:, ldp_mab._RADIUS : ldp_mab._RADIUS + ldp_mab.LANES] = 1.0

    def estimate(i, *values):
        for element, value in enumerate(values, 3 * places[i]):
            lanes[element // ldp_mab.LANES, ldp_mab._ESTIMATE + element % ldp_mab.LANES] = value

    estimate(1, 0.2, 0.0, 0.7)
    odds = np.exp(np.array([0.2, 0.7]) * math.log(1.8) / 0.5001)
    ldp_mab._refresh(False, arms, lanes, places, chances, 1)
    assert chances[1] == pytest.approx([odds[0] / odds.sum(), odds[0] / odds.sum(), 1])
    ldp_mab._refresh(True, arms, lanes, places, chances, 1)
    assert chances[1] == pytest.approx([0.5, 0.5, 1])
    estimate(1, 0.691)
    ldp_mab._refresh(False, arms, lanes, places, chances, 1)
    assert chances[1] == pytest.approx([0.5, 0.5, 1])
    # Uniform at the root, whatever the estimates.
    estimate(0, 0.1, 0.5, 0.9)
    ldp_mab._refresh(False, arms, lanes, places, chances, 0)
    assert chances[0] == pytest.approx([1 / 3, 2 / 3, 1])
    # With one arm left nothing is read where the bin was once: there may be nothing any more.
    places[2] = 10**6
    ldp_mab._refresh.py_func(False, arms, lanes, places, chances, 2)
    assert chances[2].tolist() == [0, 1, 1]


def test_rewards_of_the_exponential_environment_by_hand():
    released, printed = (exponential.configure(3, variant) for variant in ("as_released", "as_printed"))
    assert (released.spacing, printed.spacing) == (1 / 4, 1 / 3)
    x = np.array([0.5, 0.9])
    # Distances 1/4, 0, 1/4 from the centres 1/4, 1/2, 3/4: e = exp(-18 / 16).
    e = math.exp(-18 / 16)
    means = [released.mean(released, 0, 0, x, k) for k in range(3)]
    assert means == pytest.approx([2 * e / (1 + e), 1, 2 * e / (1 + e)])
    e = math.exp(-18 / 36)
    assert [printed.mean(printed, 0, 0, x, k) for k in range(2)] == pytest.approx([2 * e / (1 + e)] * 2)
    for environment in (released, printed):
        for x1 in np.linspace(0, 1, 998):
            x = np.array([x1, 0.5])
            means = [environment.mean(environment, 0, 0, x, k) for k in range(3)]
            assert environment.best(environment, 0, 0, x) == np.argmax(means)


def test_rewards_of_the_symmetric_environment_by_hand():
    environment = symmetric.configure("as_released")

    def means(*x):
        return [environment.mean(environment, 0, 0, np.array(x), k) for k in range(2)]

    assert means(0.25, 0.75) == [1, 0]
    assert means(0.75, 0.75) == [0, 1]
    # (2 x mod 1) / 2 - 1/4 = 0.1 and 0: 1 - 0.4 = 0.6, half of it.
    assert means(0.35, 0.25) == pytest.approx([0.2, 0.8])
    assert means(0.5, 0.2) == [0.5, 0.5]
    for x in np.random.default_rng(5).random((200, 2)):
        assert environment.best(environment, 0, 0, x) == np.argmax(means(*x))


@njit
def sample(environment, source, contexts, arms, rng):
    for i in range(len(contexts)):
        environment.arrive(environment, source, i, contexts[i], rng)
        arms[i] = environment.behave(environment, source, i, rng)


def draw(environment, source, n, seed=6):
    contexts, arms = np.zeros((n, environment.dimensions)), np.zeros(n, np.int64)
    sample(environment, source, contexts, arms, np.random.default_rng(seed))
    assert (contexts >= 0).all()
    assert (contexts <= 1).all()
    return contexts, arms


@pytest.mark.parametrize(
    ("variant", "gamma", "d"), list(itertools.product(["as_printed", "as_released"], [0, 0.2, 2], [2, 3]))
)
def test_the_sources_contexts_have_their_radial_law(variant, gamma, d):
    n = 40_000
    environment = exponential.configure(3, variant, dimensions=d, gamma=gamma)
    exponent = d + gamma if variant == "as_printed" else d * (gamma + 1)
    contexts, _ = draw(environment, 1, n)
    radius = abs(2 * contexts - 1).max(axis=1)
    for r in (0.3, 0.6, 0.9):
        p = r**exponent
        # 5 standard deviations of a binomial.
        assert (radius < r).sum() == pytest.approx(n * p, abs=5 * math.sqrt(n * p * (1 - p)))
    # The direction is uniform on the surface of the cube: each face alike, and uniform on it.
    face = abs(2 * contexts - 1).argmax(axis=1)
    assert np.bincount(face) == pytest.approx(n / d, abs=5 * math.sqrt(n / d))
    along = ((2 * contexts - 1) / radius[:, None])[face == 0][:, 1]
    assert (along < 0.2).mean() == pytest.approx(0.6, abs=5 * math.sqrt(0.24 / len(along)))
    # The target's contexts are uniform in any case.
    contexts, _ = draw(environment, 0, n)
    assert (abs(2 * contexts - 1).max(axis=1) < 0.6).sum() == pytest.approx(n * 0.6**d, abs=5 * math.sqrt(n / 4))


@pytest.mark.parametrize("kappa", [0.0, 0.4, 1.0])
def test_behaviour_policies_have_their_probabilities(kappa):
    n = 40_000
    environment = exponential.configure(3, "as_released", kappa=kappa)
    _, arms = draw(environment, 1, n)
    # Linear from kappa / K to (2 - kappa) / K.
    expected = np.linspace(kappa / 3, (2 - kappa) / 3, 3)
    assert np.bincount(arms, minlength=3) / n == pytest.approx(expected, abs=5 * math.sqrt(0.25 / n))
    assert kappa > 0 or (arms != 0).all()


def cell(record=None, horizon=2000, replicates=3):
    checkpoints = np.array([horizon // 4, horizon // 2, horizon])
    return SimpleNamespace(
        paper="some2020",
        study="s",
        policy="ldp_mab",
        environment="exponential",
        record=record,
        horizon=horizon,
        checkpoints=checkpoints,
        replicates=replicates,
    )


def run_block(record=None, replicates=3, environment=None, **settings):
    environment = environment or exponential.configure(3, "as_released")
    given = {"K": 3, "horizon": 2000, "epsilon": 30.0, "variant": "as_released", "M": 1, "n_aux": 4000,
             "epsilon_aux": 60, **settings}  # fmt: skip
    params = ldp_mab.configure(**given)
    return locally_private.run_block(
        ldp_mab, params, environment, cell(record, replicates=replicates), replicates, None, np.random.default_rng(7)
    )


def test_records_agree_with_each_other():
    regret, point, eliminations = (run_block(record) for record in ("regret", "point", "eliminations"))
    assert regret["replicate"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert regret["t"].tolist() == [500, 1000, 2000] * 3
    assert (np.diff(regret["regret"].reshape(3, 3)) >= 0).all()
    # Everything from one stream: the same runs.
    assert (point["regret"].reshape(9, 3) == regret["regret"][:, None]).all()
    assert (eliminations["regret"] == regret["regret"][2::3]).all()
    share = point["share"].reshape(3, 3, 3)
    assert share.sum(axis=2) == pytest.approx(np.ones((3, 3)))
    # Arm 0 is best at the point; the others lose their gaps.
    environment = exponential.configure(3, "as_released")
    means = np.array([environment.mean(environment, 0, 0, np.array([0.33, 0.33]), k) for k in range(3)])
    gaps = (share @ (means[0] - means)) * [500, 1000, 2000]
    assert point["local_regret"].reshape(3, 3, 3)[..., 0] == pytest.approx(gaps)
    gone = point["eliminated_after"].reshape(3, 3, 3)[:, 0]
    assert (gone == 0).any()
    # An arm that went before the target came is never pulled.
    assert (share[:, -1][gone == 0] == 0).all()
    assert (eliminations["eliminations"] >= eliminations["auxiliary"]).all()
    assert (eliminations["auxiliary"] > 0).all()
    assert (eliminations["wrong"] >= eliminations["auxiliary_wrong"]).all()
    assert ((eliminations["lost"] >= 0) & (eliminations["lost"] < 0.5)).all()


def test_a_partition_is_the_run_s_own_at_every_checkpoint():
    found = run_block("partition", replicates=1, n_aux=0)
    whole = run_block("eliminations", replicates=1, n_aux=0)
    at_end = found["t"] == 2000
    assert sorted(set(found["t"].tolist())) == [500, 1000, 2000]
    # An arm is gone in a bin and in all its parts: each removal shows where no parent has it.
    ends = zip(found["bin"][at_end], found["arm"][at_end], found["active"][at_end], strict=True)
    gone = {(b, a) for b, a, on in ends if not on}
    removed = [(b, a) for b, a in gone if b == 0 or ((b - 1) // 2, a) not in gone]
    assert len(removed) == whole["eliminations"][0] > 0
    for t in (500, 1000, 2000):
        rows = (found["t"] == t) & (found["arm"] == 0) & (found["refined"] == 0)
        area = (found["x_high"] - found["x_low"]) * (found["y_high"] - found["y_low"])
        assert area[rows].sum() == 1.0
    # What has been looked at has both an estimate and a radius.
    assert (np.isnan(found["estimate"]) == np.isnan(found["radius"])).all()
    assert np.isfinite(found["radius"]).any()
    one_dimension = run_block(
        "partition", replicates=1, n_aux=0, dimensions=1, environment=exponential.configure(3, "as_released", 1)
    )
    assert np.isnan(one_dimension["y_low"]).all()
    for wrong in ({"replicates": 2, "n_aux": 0}, {"replicates": 1}):
        with pytest.raises(ValueError, match="partition is for one run without auxiliary users"):
            run_block("partition", **wrong)


@pytest.mark.parametrize("variant", ["as_printed", "as_released"])
def test_a_bin_that_was_halved_shows_the_look_that_halved_it(variant):
    found = run_block("partition", replicates=1, n_aux=0, variant=variant)
    halved = found["refined"] == 1
    bins = np.unique(found["bin"][halved])
    assert len(bins) >= 3
    for i in bins:
        rows = halved & (found["bin"] == i) & (found["active"] == 1) & (found["t"] == 2000)
        # As printed the radius of some arm was small, as released those of all.
        radius = found["radius"][rows].min() if variant == "as_printed" else found["radius"][rows].max()
        assert radius < (2 * math.sqrt(2) if variant == "as_printed" else 1) * 2 ** (-found["depth"][rows][0] / 2)


def test_estimates_outside_their_radii_are_counted():
    # The printed radius holds at c = 64 and is far too small at c = .01.
    environment = exponential.configure(3, "as_printed")
    settings = {"environment": environment, "variant": "as_printed", "epsilon": 2.0, "n_aux": 0}
    wide, narrow = (run_block("eliminations", c=c, **settings) for c in (64.0, 0.01))
    assert (wide["looks"] >= 3 * 1000).all()
    assert wide["misses"].tolist() == [0, 0, 0]
    assert (narrow["misses"] > 0.5 * narrow["looks"]).all()


def test_messages_tell_what_is_drawn_for_the_users_in_a_bin_alone():
    found = run_block("messages")
    regret = run_block("regret")
    assert (found["regret"] == regret["regret"][2::3]).all()
    for name in ("in_parts", "empty", "alone"):
        assert ((found[name] >= 0) & (found[name] <= 1)).all()
    # A bin in the partition has been halved once at least.
    assert (found["halvings"] >= found["in_parts"]).all()
    assert (found["in_parts"] > 0).all()
    printed = run_block("messages", deviation="noise")
    assert all((printed[name] == 0).all() for name in ("in_parts", "halvings", "empty", "alone"))


def test_messages_are_counted_by_hand():
    # Eight users in batches of two, the last batch alone in the second of two bins: three empty ones, one of them the
    # first bin's. The square is halved from the start and has no users outside.
    params = ldp_mab.configure(2, 8, 8.0, "as_released", M=0, batch=2, dimensions=1)._replace(depth=1, warm_up=1e9)
    contexts = np.array([[[0.1], [0.2], [0.1], [0.9], [0.1], [0.2], [0.8], [0.9]]])
    environment = ScriptedTarget(arrive, behave, always_first, mean, 0.3, contexts, np.zeros((1, 8), int),
                                 np.ones((1, 8, 2)))  # fmt: skip
    state = ldp_mab.init(params, np.random.default_rng(1))
    state.tree.refined[0] = True
    state.arms[:] = 3
    state.live[:2], state.n_live[0] = [1, 2], 2
    ldp_mab.stream.py_func(params, environment, state, 0, np.array([8]), np.random.default_rng(2),
                           locally_private.new_record(1, 2))  # fmt: skip
    names = (_counts.IN_PARTS, _counts.HALVINGS, _counts.FOLLOWED, _counts.EMPTY, _counts.ALONE)
    assert state.counts[list(names)].tolist() == [8, 8, 8, 3, 2]


def test_without_elimination_play_is_uniform():
    # At c = 64 the printed algorithm removes nothing; its regret a user is that of uniform play.
    environment = exponential.configure(3, "as_printed")
    found = run_block(environment=environment, variant="as_printed", c=64.0, epsilon=1.0, n_aux=0)
    x = np.stack([(np.arange(5000) + 0.5) / 5000, np.zeros(5000)], axis=1)
    means = locally_private.expected_rewards(environment, x)
    gaps = means.max(axis=1, keepdims=True) - means
    assert gaps.mean() == pytest.approx(0.437, abs=0.002)
    assert found["regret"][2::3] / 2000 == pytest.approx(gaps.mean(), abs=5 * gaps.std() / math.sqrt(2000))
    assert run_block("eliminations", environment=environment, variant="as_printed", c=64.0, epsilon=1.0)[
        "eliminations"
    ].tolist() == [0, 0, 0]


def test_a_run_depends_on_its_stream_alone():
    one, other = run_block(replicates=2), run_block(replicates=2)
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_new_values_compile_nothing(tmp_path, monkeypatch):
    # Where no kernel is kept.
    monkeypatch.setenv(compiled.FOLDER_VARIABLE, str(tmp_path))
    compiled._kept.cache_clear()
    signatures = []
    for n, epsilon, variant in [(500, 1.0, "as_printed"), (700, 9.0, "as_released")]:
        params = ldp_mab.configure(3, n, epsilon, variant, M=1, n_aux=200)
        environment = exponential.configure(3, variant, gamma=n / 1000)
        locally_private.run(
            ldp_mab, params, environment, np.array([n]), np.random.default_rng(8), locally_private.new_record(1, 3)
        )
        signatures.append([set(function.signatures) for function in (ldp_mab._learn, ldp_mab.init)])
    assert all(signatures[0])
    assert signatures[0] == signatures[1]


GOOD = {"K": 3, "horizon": 1000, "epsilon": 1.0, "variant": "as_released"}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"K": 1}, "K"),
        ({"K": 63}, "K"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 99}, "horizon"),
        ({"n_aux": 50}, "n_aux"),
        ({"n_aux": -1}, "n_aux"),
        ({"M": -1}, "M"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": 1e-3}, "epsilon"),
        ({"epsilon_aux": 0.0}, "epsilon_aux"),
        ({"epsilon_aux": "2 -8"}, "epsilon_aux"),
        ({"epsilon_aux": "2 8 2"}, "epsilon_aux"),
        ({"M": 3, "epsilon_aux": "2 8"}, "epsilon_aux"),
        ({"epsilon_aux": "2,8"}, "epsilon_aux"),
        ({"dimensions": 0}, "dimensions"),
        ({"batch": 0}, "batch"),
        ({"c": 0.0}, "c"),
        ({"deviation": "batch", "batch": 5}, "deviation"),
        ({"variant": "else"}, "variant"),
        ({"deviation": "noise else"}, "deviation"),
    ],
)
def test_values_out_of_range_are_refused(values, name):
    with pytest.raises(ValueError, match=f"^{name}: "):
        ldp_mab.configure(**{**GOOD, **values})


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"K": 1}, "K"),
        ({"dimensions": 0}, "dimensions"),
        ({"gamma": -0.1}, "gamma"),
        ({"kappa": 1.1}, "kappa"),
        ({"kappa": -0.1}, "kappa"),
        ({"point": 1.01}, "point"),
        ({"variant": "else"}, "variant"),
    ],
)
def test_environments_out_of_range_are_refused(values, name):
    with pytest.raises(ValueError, match=f"^{name}: "):
        exponential.configure(**{"K": 3, "variant": "as_released", **values})
    if name != "K":
        with pytest.raises(ValueError, match=f"^{name}: "):
            symmetric.configure(**{"variant": "as_released", **values})


def test_a_policy_told_other_sizes_is_refused():
    with pytest.raises(PrivarmsError, match="K = 2"):
        run_block(environment=symmetric.configure("as_released"))
    with pytest.raises(ValueError, match=r"^record: "):
        run_block("else")
