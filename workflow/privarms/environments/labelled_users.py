"""A classification dataset for policies that learn from auxiliary sources first: rows are users, labels are arms.

As in section 4.2 of Ma et al. (2025): the reward is 1 for the row's label, and behaviour policies draw arms at random.
Every replicate takes the users of the target and of each source in a new random order.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.environments import classification

DATASET = True
TELLS = ("K", "dimensions", "source_users")


class Environment(NamedTuple):
    """Users by source (0 for the target) and number within it; functions as in `environments._covariate_shift`.

    shuffle(environment, rng): draws a new order of the users, for the next replicate
    contexts: float64[n, d] in [0, 1]; labels: int64[n] in [0, n_arms); order: int64[n], rows, changes in place
    starts: int64[M + 2]; the users of source m are rows order[starts[m]] to order[starts[m + 1] - 1]
    """

    arrive: Callable
    behave: Callable
    best: Callable
    mean: Callable
    shuffle: Callable
    contexts: np.ndarray
    labels: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    n_arms: int
    dimensions: int
    point: float


@njit(forceinline=True)
def arrive(environment, source, user, context, rng):
    """Fill `context` with the user's context; draw nothing."""
    row = environment.order[environment.starts[source] + user]
    for k in range(environment.dimensions):
        context[k] = environment.contexts[row, k]


@njit(forceinline=True)
def behave(environment, source, user, rng):
    return int(rng.random() * environment.n_arms)


@njit(forceinline=True)
def best(environment, source, user, context):
    return environment.labels[environment.order[environment.starts[source] + user]]


@njit(forceinline=True)
def mean(environment, source, user, context, arm):
    """Return the reward: 1 if the arm is the user's label."""
    return 1.0 if best(environment, source, user, context) == arm else 0.0


@njit
def shuffle(environment, rng):
    """Draw a uniform order of the users of every source and of the target; earlier orders have no influence."""
    order, starts = environment.order, environment.starts
    for m in range(len(starts) - 1):
        for i in range(starts[m], starts[m + 1]):
            j = starts[m] + int(rng.random() * (i - starts[m] + 1))
            order[i] = order[j]
            order[j] = i


def tell(environment: Environment) -> dict:
    """Return the sizes of the data that policies need: K, dimensions, and source_users, the users per source."""
    sizes = np.diff(environment.starts)[1:].tolist()
    return {"K": environment.n_arms, "dimensions": environment.dimensions, "source_users": sizes}


def configure(data: str) -> Environment:
    """Return the environment of a prepared dataset (a Parquet file); raises PrivarmsError if the file is damaged."""
    rows = classification.configure(data)
    contexts = np.concatenate([rows.contexts, rows.source_contexts])
    labels = np.concatenate([rows.labels, rows.source_labels])
    starts = np.concatenate([[0], len(rows.labels) + rows.source_starts])
    order = np.arange(len(labels))
    functions = arrive, behave, best, mean, shuffle
    return Environment(*functions, contexts, labels, order, starts, rows.n_arms, contexts.shape[1], 0.5)
