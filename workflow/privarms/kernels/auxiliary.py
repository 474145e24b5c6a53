"""The number of users of each source, and their privacy budgets, from the parameters of a study."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from privarms.ranges import at_least, positive


def users_and_budgets(
    horizon: int,
    epsilon: float,
    M: int,
    n_aux: int,
    epsilon_aux: float | str,
    source_users: Sequence[int] | None,
    auxiliary: Literal["with", "without"],
) -> tuple[np.ndarray, np.ndarray]:
    """Return users, int64[M + 1], and privacy budgets, float64[M + 1], of the target and then of each source.

    There are M sources of n_aux users each or, if an environment provides source_users, sources of these sizes; without
    auxiliary data there are none. epsilon_aux: the budget of every source, or one per source, in order, as in "2 8".
    Raises ValueError for values out of range.
    """
    at_least(0, M=M, n_aux=n_aux)
    at_least(1, horizon=horizon)
    sizes = [n_aux] * M if source_users is None else [int(n) for n in source_users]
    if auxiliary == "without":
        sizes = []
    elif source_users is not None and not sizes:
        raise ValueError("auxiliary: expected without, because the data have no auxiliary sources")
    try:
        budgets = [float(word) for word in str(epsilon_aux).split()]
    except ValueError:
        raise ValueError(f"epsilon_aux: expected numbers separated by blanks; found {epsilon_aux!r}") from None
    if len(budgets) == 1 or not sizes:
        budgets = budgets[:1] * len(sizes)
    if len(budgets) != len(sizes):
        raise ValueError(f"epsilon_aux: expected one budget, or one per source ({len(sizes)}); found {epsilon_aux!r}")
    positive(epsilon=epsilon, epsilon_aux=budgets)
    return np.array([horizon, *sizes], np.int64), np.array([epsilon, *budgets], np.float64)
