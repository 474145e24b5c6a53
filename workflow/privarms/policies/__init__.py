"""Policies: what decides; a package a family, a module a policy.

A family is the policies that one protocol runs: its package states their contract, in words and as the literal
CONTRACT, and holds in private modules what only they use. A policy module exports `LABEL`, `configure(...) -> Params`
and what the contract names, and may have the estimates `SECONDS_PER_RUN` and `SECONDS_PER_STEP`. `Params` and `State`
are NamedTuples of scalars and arrays. Functions are passed as values and parameters as arguments, so that a new
parameter value compiles nothing. An exact fast path for an environment is a module of `privarms.fast_paths`.

CONTRACT gives the arguments of every function by its name.
FAST_PATH gives those of a fast path; a family without one has no such name.
"""

from collections.abc import Callable
from types import ModuleType
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


def functions(kind: type, policy: ModuleType):
    """Return the functions of a policy's module that are the fields of a NamedTuple, as one argument of a kernel."""
    return kind(*(getattr(policy, name) for name in kind._fields))
