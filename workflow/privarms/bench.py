"""How fast the kernels are, beside their plain references and beside the random variates alone.

A case is timed in one process, in turns: the path that studies use (the fast one where a policy has one), the plain
one, and a loop that draws nothing but the variates that the first draws, noted down in a run from the same seed, as
numba draws them of a Generator. The median over the turns is reported.
"""

import sys
from collections.abc import Callable
from inspect import signature
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pandas as pd
from numba import njit, types
from numba.experimental import structref
from numba.extending import overload_method

from privarms import fast_paths
from privarms.environments import bernoulli, classification, exponential, features_bernoulli, linear, two_point
from privarms.inference import propensity
from privarms.jit.cache import compiled
from privarms.policies.bandit import dp_se, dp_ucb, epoch_se, private_ucb, successive_elimination, ucb, ucb1
from privarms.policies.contextual import absse
from privarms.policies.experiment import conse_exp3e, conse_se, dp_conse
from privarms.policies.linear import linear_ucb_as_released, oful, private_linear_ucb
from privarms.policies.locally_private import _user_by_user, _user_by_user_sgd, ldp_linear, ldp_mab, ldp_nn
from privarms.policies.stopping import dp_exponential_nas, dp_nas
from privarms.protocols import bandit as bandits
from privarms.protocols import experiment
from privarms.protocols import linear as linear_bandits
from privarms.protocols import locally_private as local_privacy
from privarms.protocols import stopping as stopping_rules
from privarms.protocols.contextual import play_contextual

# A kernel is called slower if it takes so many times longer, measured in its plain path or in its variates.
SLOWER = 1.3
COLUMNS = ("kernel", "case", "ns_per_step", "plain_ns_per_step", "variates_only_ns_per_step")
SEED = 1
TURNS = 5
# A timing takes as many replicates as last so long, in seconds.
SHORTEST = 0.02
# The parameters of so many draws are kept.
LOGGED = 1 << 20


class Case(NamedTuple):
    """What a row measures. run, plain: (rng, replicates) -> how many steps these replicates took together."""

    kernel: str
    case: str
    run: Callable
    plain: Callable


def cases() -> list[Case]:
    """Every kernel, in the settings of the papers; a plain path that would take minutes runs its first rounds only."""
    T, plain_T = 50_000_000, 200_000
    return [
        *(
            bandit(dp_ucb, T, plain_T, epsilon=epsilon, width=width)
            for width, epsilon in product(("log2.5", "log3", "chan", "exact"), (0.1, 0.25, 0.5, 1.0))
        ),
        bandit(ucb1, T, plain_T),
        bandit(dp_se, T, plain_T, epsilon=0.25),
        bandit(epoch_se, T, plain_T),
        bandit(successive_elimination, T, plain_T),
        stopping(dp_nas, mu=0.5, epsilon=0.5, alpha=0.5, beta=0.05),
        stopping(dp_exponential_nas, mu=0.5, epsilon=0.5, alpha=0.5, beta=0.05),
        contextual(absse, 41_292),
        bandit(ucb, 500, 500, K=20),
        *(bandit(private_ucb, 500, 500, K=20, epsilon=0.05, variant=v) for v in ("as_printed", "as_released")),
        bandit(ucb, 100_000, 100_000),
        *(bandit(private_ucb, 100_000, 100_000, epsilon=400.0, variant=v) for v in ("as_printed", "as_released")),
        *(adaptive_experiment(conse_se, 1_000_000, M=M, alpha=0.5) for M in (1, 10)),
        *(adaptive_experiment(dp_conse, 1_000_000, M=M, alpha=0.5, epsilon=1.0) for M in (1, 10)),
        adaptive_experiment(conse_exp3e, 1_000_000, M=1, alpha=0.5),
        estimator(propensity.mean_difference),
        estimator(propensity.cross_fitted),
        linear_bandit(oful),
        linear_bandit(linear_ucb_as_released, variant="as_released"),
        linear_bandit(private_linear_ucb, epsilon=10.0),
        *(
            locally_private(ldp_mab, users, variant="as_released", epsilon=epsilon)
            for users, epsilon in product((10_000, 80_000), (1.0, 8.0, 1024.0))
        ),
        locally_private(ldp_mab, 40_000, variant="as_released", epsilon=2.0, n_aux=50_000, epsilon_aux=8.0),
        *(locally_private(ldp_mab, 10_000, variant="as_printed", epsilon=2.0, c=c) for c in (2.0, 64.0)),
        *(private_sgd(policy, 10_000, epsilon=1.0) for policy in (ldp_linear, ldp_nn)),
    ]


def bandit(policy, horizon: int, plain_horizon: int, K: int = 5, **parameters) -> Case:
    """A policy on K Bernoulli arms with means from 0.75 to 0.25; the plain path plays `plain_horizon` rounds of it."""
    environment = bernoulli.configure(K, top=0.75, bottom=0.25)
    given = {"K": K, "horizon": horizon, **parameters}
    params = policy.configure(**{name: given[name] for name in signature(policy.configure).parameters if name in given})

    def play(block, kernel, rounds, rng, replicates):
        found = np.zeros((replicates, 1)), np.zeros((replicates, K), np.int64), np.zeros((replicates, K))
        compiled(block)(kernel, params, environment, np.array([rounds]), rng, *found)
        return rounds * replicates

    return Case(
        _name(policy),
        _text({"T": horizon, "K": K, **parameters, "plain_T": plain_horizon}),
        lambda rng, replicates: play(bandits.simulate_block, policy.SIMULATE["bernoulli"], horizon, rng, replicates),
        lambda rng, replicates: play(bandits.play_block, policy.POLICY, plain_horizon, rng, replicates),
    )


def stopping(rule, mu: float, **parameters) -> Case:
    """A stopping rule on samples from {-1, 1} of mean mu; a step is a sample."""
    environment, params = two_point.configure(mu), rule.configure(**parameters)

    def stop(block, kernel, rng, replicates):
        times, estimates = np.zeros(replicates, np.int64), np.zeros(replicates)
        compiled(block)(kernel, params, environment, rng, times, estimates)
        return times.sum()

    return Case(
        _name(rule),
        _text({"mu": mu, **parameters}),
        lambda rng, replicates: stop(
            stopping_rules.simulate_block, fast_paths.find(rule, "two_point"), rng, replicates
        ),
        lambda rng, replicates: stop(stopping_rules.play_block, rule.RULE, rng, replicates),
    )


def contextual(policy, users: int, dimensions: int = 3, **parameters) -> Case:
    """A policy on users with uniform contexts and two arms, the better one by the first coordinate."""
    contexts = np.random.default_rng(SEED).random((users, dimensions))
    labels = (contexts[:, 0] > 0.5).astype(np.int64)
    no_sources = np.empty((0, dimensions)), np.empty(0, np.int64), np.zeros(1, np.int64)
    environment = classification.Environment(classification.pull, contexts, labels, 2, *no_sources)
    params = policy.configure(K=2, horizon=users, dimensions=dimensions, **parameters)
    order, rewards = np.arange(users), np.zeros(1)

    def play(kernel, replicates, *arguments):
        for _ in range(replicates):
            compiled(kernel)(*arguments)
        return users * replicates

    def run(rng, replicates):
        arguments = policy.POLICY, params, environment, order, np.array([users]), rng, rewards
        return play(play_contextual, replicates, *arguments)

    return Case(_name(policy), _text({"T": users, "d": dimensions, **parameters}), run, run)


def linear_bandit(
    policy, horizon: int = 500, K: int = 5, dimensions: int = 5, variant: str = "as_printed", **parameters
) -> Case:
    """A linear policy; there is one path, and one stream for policy and environment."""
    environment = linear.configure(K, dimensions, variant)
    given = {"K": K, "dimensions": dimensions, "horizon": horizon, **parameters}
    params = policy.configure(**{name: given[name] for name in signature(policy.configure).parameters if name in given})

    def play(rng, replicates):
        record = linear_bandits.new_record(replicates, dimensions)
        compiled(linear_bandits.play_linear_block)(policy.POLICY, params, environment, horizon, rng, rng, record)
        return horizon * replicates

    return Case(
        _name(policy), _text({"T": horizon, "K": K, "d": dimensions, "variant": variant, **parameters}), play, play
    )


def adaptive_experiment(policy, horizon: int, plain_horizon: int = 20_000, **parameters) -> Case:
    """An experiment with features; a step is a patient. The plain path has `plain_horizon` of them."""

    def play(block, kernel, n, rng, replicates):
        environment = features_bernoulli.configure(parameters["M"], n)
        params = policy.configure(horizon=n, **parameters)
        compiled(block)(kernel, params, environment, rng, experiment.new_records(replicates, parameters["M"]))
        return n * replicates

    fast = fast_paths.find(policy, "features_bernoulli")
    return Case(
        _name(policy),
        _text({"T": horizon, **parameters}),
        lambda rng, replicates: play(experiment.simulate_block, fast, horizon, rng, replicates),
        lambda rng, replicates: play(experiment.play_block, policy.POLICY, plain_horizon, rng, replicates),
    )


def locally_private(
    policy, users: int, plain_users: int = 1_000, K: int = 3, variant: str = "as_released", **parameters
):
    """A policy for locally private users on the exponential environment; a step is a user, of the sources or not.

    The plain path has `plain_users`, of the target alone.
    """
    environment = exponential.configure(K, variant)
    params = policy.configure(K, users, variant=variant, **parameters)
    few = np.zeros_like(params.users)
    few[0] = plain_users
    short = params._replace(users=few)
    return Case(
        _name(policy),
        _text({"T": users, "K": K, "variant": variant, **parameters}),
        lambda rng, replicates: _send(policy, params, environment, rng, replicates),
        lambda rng, replicates: _send(_user_by_user, short, environment, rng, replicates),
    )


def _send(path, params, environment, rng, replicates):
    record = local_privacy.new_record(1, params.n_arms)
    for _ in range(replicates):
        local_privacy.run(path, params, environment, params.users[:1], rng, record)
    return int(params.users.sum()) * replicates


def private_sgd(policy, users: int, plain_users: int = 1_000, K: int = 3, dimensions: int = 2, **parameters) -> Case:
    """Private gradients on the exponential environment, without sources; a step is a user."""
    environment = exponential.configure(K, "as_released")
    params = policy.configure(K, users, dimensions=dimensions, **parameters)
    short = params._replace(users=np.array([plain_users]))
    return Case(
        _name(policy),
        _text({"T": users, "K": K, **parameters}),
        lambda rng, replicates: _send(policy, params, environment, rng, replicates),
        lambda rng, replicates: _send(_user_by_user_sgd, short, environment, rng, replicates),
    )


def estimator(estimate, horizon: int = 20_000, replications: int = 50) -> Case:
    """An estimator of an effect on the data of section 5 of Li et al. 2024; a step is a round of one replication."""
    data = np.random.default_rng(SEED)
    arms = data.integers(0, 2, (replications, horizon))
    rewards = data.standard_normal((replications, horizon))

    def run(rng, replicates):
        for _ in range(replicates):
            estimate(arms, rewards)
        return horizon * replications * replicates

    return Case(estimate.__name__, _text({"T": horizon, "replications": replications}), run, run)


def measure(chosen: list[Case] | None = None) -> pd.DataFrame:
    """A row per case, of all cases by default, with the columns `COLUMNS`: nanoseconds per step."""
    return pd.DataFrame([_measure(case) for case in (cases() if chosen is None else chosen)], columns=list(COLUMNS))


def compared(now: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Two tables of `measure` by kernel and case: the times of the first in those of the second, and `slower`.

    `times`: ns_per_step now over before; `in_plain` and `in_variates`: the same with time measured in the plain path's
    steps and in the variates', which another machine or a busy one changes little. nan where one has no such time.
    `slower`: whether one of the latter two is above SLOWER.
    """
    both = now.merge(before, on=["kernel", "case"], how="left", suffixes=("", "_before"))
    found = both[["kernel", "case", "ns_per_step"]].copy()
    found["times"] = both["ns_per_step"] / both["ns_per_step_before"]
    for name, column in (("in_plain", "plain_ns_per_step"), ("in_variates", "variates_only_ns_per_step")):
        found[name] = found["times"] / (both[column] / both[f"{column}_before"])
    # Where both paths are one, or one of them is hardly there, the other unit says it.
    return found.assign(slower=(found[["in_plain", "in_variates"]] > SLOWER).any(axis=1))


def shown(now: pd.DataFrame, before: pd.DataFrame | None = None) -> str:
    """A table of `measure` for reading, beside an earlier one, and which kernels are slower than they were then."""
    table = now.rename(columns=lambda name: name.replace("_ns_per_step", " ns").replace("ns_per_step", "ns a step"))
    if before is None:
        return table.to_markdown(index=False, floatfmt=".3g")
    found = compared(now, before)
    table = pd.concat([table, found[["times", "in_plain", "in_variates"]]], axis=1)
    slower = found[found["slower"]]
    lines = [f"slower: {row.kernel} ({row.case}): {row.times:.2f} times" for row in slower.itertuples()]
    said = lines or [f"no kernel is {SLOWER} times slower than before, in its plain path or its variates"]
    return "\n".join([table.to_markdown(index=False, floatfmt=".3g"), "", *said])


def _measure(case):
    replicates, plain_replicates = _enough(case.run), _enough(case.plain)
    generator, draws = counting(np.random.default_rng(SEED))
    case.run(generator, replicates)
    draw_again(draws, np.random.default_rng(SEED))
    found = []
    for _ in range(TURNS):
        seconds, steps = _timed(case.run, replicates)
        plain_seconds, plain_steps = _timed(case.plain, plain_replicates)
        variates_seconds, _ = _timed(lambda rng, _: draw_again(draws, rng), replicates)
        found.append((seconds / steps, plain_seconds / plain_steps, variates_seconds / steps))
    run, plain, variates = (1e9 * median(column) for column in zip(*found, strict=True))
    return case.kernel, case.case, run, plain, variates if draws.counts.any() else np.nan


def _timed(run, replicates):
    rng = np.random.default_rng(SEED)
    start = perf_counter()
    steps = run(rng, replicates)
    return perf_counter() - start, steps


def _enough(run):
    """How many replicates last `SHORTEST` seconds; compiles."""
    _timed(run, 1)
    replicates = 1
    while (seconds := _timed(run, replicates)[0]) < SHORTEST:
        replicates *= min(10, 1 + int(SHORTEST / seconds))
    return replicates


def _name(module):
    return module.__name__.rpartition(".")[2]


def _text(parameters):
    return " ".join(f"{name}={value}" for name, value in parameters.items())


class Draws(NamedTuple):
    """What a kernel drew.

    counts: int64[5], how many of random, standard_exponential, standard_normal, binomial and standard_gamma
    trials: int64[LOGGED], chances: float64[LOGGED], of the binomials; shapes: float64[LOGGED], of the gammas; of more
    draws than LOGGED the last ones, and 0 where there were fewer
    """

    counts: np.ndarray
    trials: np.ndarray
    chances: np.ndarray
    shapes: np.ndarray


@structref.register
class _CountingType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class _Counting(structref.StructRefProxy):
    """A Generator for kernels that notes down what is drawn from it."""

    def __new__(cls, generator, draws):
        return structref.StructRefProxy.__new__(cls, generator, draws)


structref.define_proxy(_Counting, _CountingType, ["generator", "draws"])


def counting(generator: np.random.Generator) -> tuple[_Counting, Draws]:
    """A stand-in for a Generator that only kernels can draw from, the same numbers; and where it notes the draws."""
    draws = Draws(np.zeros(5, np.int64), np.zeros(LOGGED, np.int64), np.zeros(LOGGED), np.zeros(LOGGED))
    return _Counting(generator, draws), draws


@overload_method(_CountingType, "random")
def _random(self):
    def draw(self):
        self.draws.counts[0] += 1
        return self.generator.random()

    return draw


@overload_method(_CountingType, "standard_exponential")
def _standard_exponential(self):
    def draw(self):
        self.draws.counts[1] += 1
        return self.generator.standard_exponential()

    return draw


@overload_method(_CountingType, "standard_normal")
def _standard_normal(self):
    def draw(self):
        self.draws.counts[2] += 1
        return self.generator.standard_normal()

    return draw


@overload_method(_CountingType, "binomial")
def _binomial(self, n, p):
    def draw(self, n, p):
        i = self.draws.counts[3] % LOGGED
        self.draws.trials[i], self.draws.chances[i] = n, p
        self.draws.counts[3] += 1
        return self.generator.binomial(n, p)

    return draw


@overload_method(_CountingType, "standard_gamma")
def _standard_gamma(self, shape):
    def draw(self, shape):
        self.draws.shapes[self.draws.counts[4] % LOGGED] = shape
        self.draws.counts[4] += 1
        return self.generator.standard_gamma(shape)

    return draw


@njit
def draw_again(draws, rng):
    """As many draws as noted, kind by kind; returns their sum, for a compiler may drop what nobody uses."""
    total = 0.0
    for _ in range(draws.counts[0]):
        total += rng.random()
    for _ in range(draws.counts[1]):
        total += rng.standard_exponential()
    for _ in range(draws.counts[2]):
        total += rng.standard_normal()
    for i in range(draws.counts[3]):
        total += rng.binomial(draws.trials[i % LOGGED], draws.chances[i % LOGGED])
    for i in range(draws.counts[4]):
        total += rng.standard_gamma(draws.shapes[i % LOGGED])
    return total


if __name__ == "__main__":
    files = [file for file in sys.argv[1:] if Path(file).is_file()]
    print(shown(*map(pd.read_csv, files)))
