"""Policies: what decides; a package a family, a module a policy.

A family is the policies that one protocol runs: its package states their contract, in words and as the literal
CONTRACT, and holds in private modules what only they use. A policy module exports `LABEL`, `SECONDS_PER_RUN`,
`SECONDS_PER_STEP`, `configure(...) -> Params` and what the contract names; `Params` and `State` are NamedTuples of
scalars and arrays. Functions are passed as values and parameters as arguments, so that a new parameter value compiles
nothing. An exact fast path for an environment is a module of `fast_paths`.

CONTRACT gives the arguments of every function by its name; a text in their place is what the name is bound to.
FAST_PATH gives those of a fast path; a family without one has no such name.
"""

from collections.abc import Callable
from typing import NamedTuple


class Policy(NamedTuple):
    """The three functions, `@njit`, of a policy that chooses in every round; t is the round, from 1.

    init(params) -> state
    choose(params, state, context, t, rng) -> arm, an int in [0, K)
    learn(params, state, context, arm, reward, t, rng) -> state; arrays of the state may change in place
    """

    init: Callable
    choose: Callable
    learn: Callable
