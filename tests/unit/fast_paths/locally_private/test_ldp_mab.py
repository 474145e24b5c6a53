"""Compare every decision of LDPMAB's fast path with the reference implementation, on fixed users and noise."""

import importlib.util
from typing import NamedTuple

import numba
import numpy as np
import pytest

from privarms.fast_paths.locally_private import _ldp_mab_counts, _ldp_mab_rules, _partition
from privarms.fast_paths.locally_private import ldp_mab as compiled_path
from privarms.policies.locally_private import ldp_mab
from privarms.protocols import locally_private

K, USERS = 3, 500
# Each Laplace variate is replaced by this multiple of its scale; a sum of many is the sum of these.
NOISE = 0.03


class Scripted(NamedTuple):
    """Fixed users with rewards 0 or 1, so runs are deterministic."""

    arrive: object
    behave: object
    best: object
    mean: object
    point: float
    contexts: np.ndarray
    arms: np.ndarray
    rewards: np.ndarray
    uniforms: np.ndarray


class Script:
    """Replacement of a Generator: the uniform variate of the current user, and the same noise for all users."""

    def __init__(self, noise=NOISE):
        self.noise = noise

    def random(self):
        return self.uniform

    def laplace(self, loc, scale):
        return self.noise * scale


def arrive(environment, source, user, context, rng):
    rng.uniform = environment.uniforms[source, user]
    context[:] = environment.contexts[source, user]


def behave(environment, source, user, rng):
    return environment.arms[source, user]


def best(environment, source, user, context):
    return int(environment.rewards[source, user].argmax())


def mean(environment, source, user, context, arm):
    return environment.rewards[source, user, arm]


@pytest.fixture(scope="module")
def environment():
    rng = np.random.default_rng(4)
    shape = (3, USERS)
    # Some contexts are on the edges of bins.
    contexts = np.where(rng.random((*shape, 1)) < 0.1, rng.integers(0, 9, (*shape, 1)) / 8, rng.random((*shape, 1)))
    good = (3 * contexts[..., 0]).astype(int).clip(0, 2)
    rewards = (rng.random((*shape, K)) < np.where(np.arange(K) == good[..., None], 0.95, 0.05)).astype(float)
    return Scripted(
        arrive, behave, best, mean, 0.3, contexts, rng.integers(0, K, shape), rewards, rng.uniform(0.001, 1, shape)
    )


def uncompiled(name):
    """Return a module of the library as plain Python."""
    spec = importlib.util.find_spec(name)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "DISABLE_JIT", True)
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def plain_path():
    """Return the fast path as plain Python, with the noise of `Script`."""
    module, partition = uncompiled(compiled_path.__name__), uncompiled(_partition.__name__)
    module.laplace = lambda scale, rng: rng.noise * scale
    module.laplace_sum = lambda scale, count, rng: rng.noise * scale * count
    for part in (partition, uncompiled(_ldp_mab_rules.__name__), uncompiled(_ldp_mab_counts.__name__)):
        for name, function in vars(part).items():
            if getattr(function, "__module__", None) == part.__name__ and hasattr(module, name):
                setattr(module, name, function)
    # In one dimension a bin has only one edge to cut.
    module.draw_tree = lambda depth, d, rng: partition.draw_tree(depth, d, np.random.default_rng(0))
    return module


class Watch:
    """Run the reference implementation; count evaluations and violations, and record the shares at the test point."""

    def __init__(self, params, environment, monkeypatch):
        self.params, self.environment = params, environment
        self.looks = self.misses = 0
        self.users = [np.zeros((0, 3)) for _ in params.users]
        self.chances = []
        self.weighted = {}
        self.eliminated, self.terms = ldp_mab.eliminated, ldp_mab.terms
        monkeypatch.setattr(ldp_mab, "eliminated", self.look)
        if not params.rules.single_sum:
            monkeypatch.setattr(ldp_mab, "terms", self.add_batch)

    def init(self, params, rng):
        return ldp_mab.init(params, rng)

    def choose(self, params, state, context, rng):
        (B,) = (B for B in state.bins if B.contains([self.environment.point]))
        self.chances.append(ldp_mab.chances(params, B))
        return ldp_mab.choose(params, state, context, rng)

    def learn(self, params, state, source, user, context, arm, reward, rng):
        self.users[source] = np.vstack([self.users[source], [context[0], arm, reward]])
        ldp_mab.learn(params, state, source, user, context, arm, reward, rng)

    def totals(self, B, m, k):
        """Return an arm's rewards and users since the bin was created, without noise."""
        x, arms, rewards = self.users[m][len(self.users[m]) - B.t[m] :].T
        inside = (arms == k) & (B.lower[0] <= x) & ((x < B.upper[0]) | (B.upper[0] == 1))
        return np.array([rewards[inside].sum(), inside.sum()])

    def add_batch(self, params, B, m, k):
        share = ldp_mab.weight(params, B, m, k)
        key = id(B), k
        # Store the bin too, so its id is not used again.
        self.weighted[key] = self.weighted.get(key, (0, B))[0] + share * self.totals(B, m, k), B
        return self.terms(params, B, m, k)

    def look(self, params, B):
        for k in B.arms if len(B.arms) > 1 else ():
            if params.rules.single_sum:
                sources = range(len(params.users))
                total, users = sum(ldp_mab.weight(params, B, m, k) * self.totals(B, m, k) for m in sources)
            else:
                total, users = self.weighted[id(B), k][0]
            expected = total / users if users else 0.0
            self.looks += B.r[k] < np.inf
            self.misses += bool(np.isfinite(B.r[k]) and abs(B.f[k] - expected) > B.r[k])
        return self.eliminated(params, B)


VARIANTS = [
    {"variant": "as_released", "batch": 20},
    {"variant": "as_printed", "batch": 7},
    # The noise is added user by user: at the end of the warm-up for all earlier users, then for each user.
    {"variant": "as_printed", "batch": 1},
    {"variant": "as_printed", "batch": 1, "deviation": "first_weight"},
    {"variant": "as_released", "batch": 1},
    {"variant": "as_released", "batch": 1, "deviation": "first_weight"},
    *({"variant": "as_released", "batch": 20, "deviation": name} for name in ldp_mab.DEVIATIONS if name != "batch"),
    {"variant": "as_printed", "batch": 15, "deviation": "noise width floor"},
    {"variant": "as_printed", "batch": 30, "deviation": "sums clip denominator sign first_weight"},
    {"variant": "as_printed", "batch": 15, "deviation": "clip denominator sign"},
    {"variant": "as_printed", "batch": 10, "deviation": "width first_weight arms"},
    {"variant": "as_printed", "batch": 10, "deviation": "asked arms"},
    {"variant": "as_printed", "batch": 15, "deviation": "choice"},
    # Weights between 0 and 1.
    {"variant": "as_printed", "batch": 15, "c": 0.01, "epsilon_aux": "2 1.5"},
    {"variant": "as_released", "batch": 20, "c": 0.01, "epsilon_aux": "2 1.5", "deviation": "floor"},
    # Small radii, so some estimates are outside.
    {"variant": "as_printed", "batch": 15, "c": 0.02},
    # Negative counts (as printed), and estimates below their expectation or outside [0, 1].
    {"variant": "as_printed", "batch": 15, "c": 0.02, "noise": -NOISE},
    {"variant": "as_released", "batch": 20, "noise": -NOISE},
    # A source that ends before its warm-up.
    {"variant": "as_printed", "batch": 10, "source_users": (460, 30)},
    {"variant": "as_released", "batch": 20, "source_users": (460, 50)},
]


@pytest.mark.parametrize("switches", VARIANTS, ids=lambda s: "-".join(map(str, s.values())))
def test_every_decision_is_the_reference_s(switches, environment, plain_path, monkeypatch):
    settings = {"M": 2, "n_aux": USERS - 40, "epsilon_aux": "40 15", "dimensions": 1, "c": 0.1, **switches}
    noise = settings.pop("noise", NOISE)
    params = ldp_mab.configure(K, USERS, 25.0, **settings)
    params = params._replace(depth=min(params.depth, 3 if params.batch == 1 else 5))
    checkpoints = np.array([90, USERS])

    watch, expected = Watch(params, environment, monkeypatch), locally_private.new_record(2, K)
    reference = locally_private.run(watch, params, environment, checkpoints, Script(noise), expected)
    # Else the comparison would say little.
    assert len(reference.removals) >= 5
    assert len(reference.refined) >= 2
    assert watch.looks > watch.misses
    assert watch.misses > 0 or settings["c"] != 0.02

    for misses in (False, True):
        record = locally_private.new_record(2, K, misses)
        state = plain_path.simulate(params, environment, checkpoints, Script(noise), record)
        for name in ("regret", "rewards", "pulls"):
            assert getattr(record, name).tolist() == getattr(expected, name).tolist()
        shares = np.cumsum(watch.chances, axis=0)[checkpoints - 1]
        assert record.shares == pytest.approx(shares, rel=1e-9)
        corner, depth = state.tree.lower[:, 0], state.tree.nodes["depth"]
        removals = [(m, seen, (corner[i],), depth[i], k) for m, seen, i, k in locally_private.removals(state)]
        assert sorted(removals) == sorted(reference.removals)
        # The fast path does not update bins with one arm.
        refined = sorted((corner[i], depth[i]) for i in np.flatnonzero(state.tree.nodes["refined"]))
        assert refined == sorted((lower[0], s) for lower, s, arms in reference.refined if len(arms) > 1)
        # A bin with one remaining arm plays this arm without a draw.
        active = state.arms["active"]
        assert state.bins["only"].tolist() == np.where(active.sum(axis=1) == 1, active.argmax(axis=1), -1).tolist()
        if misses:
            assert (state.counts["looks"][0], state.counts["misses"][0]) == (watch.looks, watch.misses)
        # The estimates of the remaining bins agree up to the last digits.
        left = {(B.lower[0], B.s): B for B in reference.bins}
        for i in state.live[: state.counts["live"][0]]:
            B = left[corner[i], depth[i]]
            for k, f in B.f.items():
                assert state.arms["estimate"][i, k] == pytest.approx(f, rel=1e-9, abs=1e-12)
                assert state.arms["radius"][i, k] == pytest.approx(B.r[k], rel=1e-9)


@pytest.mark.parametrize("deviation", ["", "sign", "clip"])
# For the target and a source: counts of either sign, count 0, and estimates above 1.
@pytest.mark.parametrize(
    ("U", "V"), [((50, -30), (20, -9)), ((-50, 30), (-20, 9)), ((0, 0), (0, 0)), ((50, 30), (90, 80))]
)
def test_estimates_are_the_reference_s(U, V, deviation, plain_path):
    params = ldp_mab.configure(
        2, 500, 2.0, "as_printed", M=1, n_aux=500, epsilon_aux=1.5, dimensions=1, deviation=deviation
    )
    state, B = plain_path.init(params, Script()), ldp_mab.Bin(0, (0.0,), (1.0,), range(2), 2, 2)
    B.t[:], B.U[:, 0], B.V[:, 0] = 200, U, V
    arm = state.arms[0, 0]
    state.bins[0].t, arm.U, arm.V = 200, U[1], V[1]
    plain_path.end_source(params, state, 1)
    arm.U, arm.V = U[0], V[0]
    with np.errstate(invalid="ignore"):
        _, numerator, denominator, variance = plain_path.sums(params.rules, params.epsilons[0] ** 2, 200, arm)
        radius = plain_path.radius(params.rules, denominator, variance)
    assert plain_path.estimate(params.rules, numerator, denominator) == pytest.approx(ldp_mab.estimate(params, B, 0))
    assert radius == pytest.approx(ldp_mab.radius(params, B, 0))


def test_intervals_that_touch_eliminate_nothing(plain_path):
    # As released, estimates are clipped to [0, 1] and the half-width is the side 1/2: 1 - 1/2 = 0 + 1/2.
    params = ldp_mab.configure(2, 500, 8.0, "as_released", M=0, dimensions=1, c=1e-6)
    B = ldp_mab.Bin(1, (0.0,), (0.5,), range(2), 1, 2)
    B.f, B.r = {0: 1.0, 1: 0.0}, {0: 0.1, 1: 0.1}
    assert ldp_mab.eliminated(params, B) == []
    state = plain_path.init(params, Script())
    plain_path.halve(state, 0)
    for i in (1, 2):
        for k in range(2):
            state.arms[i, k].U, state.arms[i, k].V = 100, (200, -100)[k]
    plain_path.update(params, state, 0, 100, 100, False, Script(0.0))
    assert state.arms["estimate"][1:3].tolist() == [[1, 0]] * 2
    assert state.counts["removals"][0] == 0


# Eight users in batches of two: the cube, its halves, and the halves of the second half.
@pytest.mark.parametrize(
    ("halved", "expected"), [([], (0, 0, 4, 0, 0)), ([0], (8, 8, 8, 3, 2)), ([0, 1], (8, 11, 12, 7, 2))]
)
def test_messages_are_counted_by_hand(halved, expected, environment, plain_path):
    params = ldp_mab.configure(2, 8, 8.0, "as_released", M=1, n_aux=8, batch=2, dimensions=1)
    params = params._replace(depth=2, rules=params.rules._replace(warm_up=1e9))
    contexts = np.array([[[0.1], [0.2], [0.1], [0.9], [0.1], [0.2], [0.8], [0.9]]] * 2)
    users = environment._replace(contexts=contexts, arms=np.zeros((2, 8), int), rewards=np.ones((2, 8, 2)))
    rng, record = Script(), locally_private.new_record(1, 2)
    state = plain_path.init(params, rng)
    for place in halved:
        plain_path.halve(state, place)
    # Only the target's users count.
    for source in (1, 0):
        plain_path.stream(params, users, state, source, np.array([8]), rng, record)
        plain_path.end_source(params, state, source)
    counts = state.counts[["in_parts", "halvings", "followed", "empty", "alone"]][0].tolist()
    assert counts == expected
