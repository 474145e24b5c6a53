"""A classification dataset as a bandit: rows are users, labels are arms, and the reward is 1 for the row's label.

As in section 4.2 of Ma et al. (2025), after Dimakopoulou et al. (2019).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.data import prepared

DATASET = True
TELLS = ("K", "dimensions")


class Environment(NamedTuple):
    """Users of the target, and of the auxiliary sources for policies that learn from these first.

    pull(environment, user, arm, rng) -> reward in {0, 1}; contexts: float64[n, d] in [0, 1]; labels: int64[n]
    source_contexts: float64[m, d]; source_labels: int64[m]: all sources, one after another
    source_starts: int64[M + 1]; rows source_starts[i] to source_starts[i + 1] - 1 belong to source i + 1
    """

    pull: Callable
    contexts: np.ndarray
    labels: np.ndarray
    n_arms: int
    source_contexts: np.ndarray
    source_labels: np.ndarray
    source_starts: np.ndarray


@njit
def pull(environment, user, arm, rng):
    """Return 1 if the arm is the user's label; draw nothing."""
    return 1.0 if environment.labels[user] == arm else 0.0


def tell(environment: Environment) -> dict:
    """Return the sizes of the data that policies need: K and dimensions."""
    return {"K": environment.n_arms, "dimensions": environment.contexts.shape[1]}


def configure(data: str) -> Environment:
    """Return the environment of a prepared dataset (a Parquet file); raises PrivarmsError if the file is damaged."""
    contexts, labels, sources, facts = prepared.load(data)
    target = sources == 0
    # A stable sort keeps the order of the file within each source.
    by_source = np.argsort(sources, kind="stable")[target.sum() :]
    sizes = np.bincount(sources, minlength=facts["sources"] + 1)[1:]
    return Environment(
        pull,
        contexts[target],
        labels[target],
        facts["K"],
        contexts[by_source],
        labels[by_source],
        np.concatenate(([0], np.cumsum(sizes))),
    )
