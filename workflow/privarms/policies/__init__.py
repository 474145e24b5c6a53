"""Policies: bandit algorithms; one package per family, one module per policy.

A family consists of the policies that one protocol can run. Its package states their contract, in words and as the
literal CONTRACT, and keeps shared code in private modules. A policy module exports `LABEL`, `configure(...) -> Params`
and the functions of the contract. It may have the estimates `SECONDS_PER_RUN` and `SECONDS_PER_STEP`. `Params` and
`State` are NamedTuples of scalars and arrays. Kernels get functions and parameters as arguments, so a new parameter
value compiles nothing. An exact fast path for an environment is a module of `privarms.fast_paths`.

CONTRACT lists the arguments of every function by its name; FAST_PATH, if it exists, lists those of a fast path.
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
    """Return the functions of a policy's module, named by the fields of the NamedTuple `kind`, as one argument."""
    return kind(*(getattr(policy, name) for name in kind._fields))
