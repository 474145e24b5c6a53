"""Values for synthetic stand-ins: given frequencies or quantiles, in the order of latent variables."""

from collections.abc import Mapping, Sequence

import numpy as np


def by_rank(latent: np.ndarray, counts: Mapping[str, int]) -> np.ndarray:
    """Return levels in their exact counts, in the order of a latent variable: its smallest values get the first."""
    placed = np.empty(len(latent), object)
    placed[np.argsort(latent, kind="stable")] = np.repeat(list(counts), list(counts.values()))
    return placed


def quantiles(latent: np.ndarray, table: Sequence[float]) -> np.ndarray:
    """Return whole numbers with these evenly spaced quantiles, in the order of a latent variable."""
    ranks = np.argsort(np.argsort(latent, kind="stable"), kind="stable")
    return np.rint(np.interp((ranks + 0.5) / len(latent), np.linspace(0, 1, len(table)), table)).astype(int)


def logistic(score: np.ndarray, mean: float) -> np.ndarray:
    """Return 1 / (1 + exp(-(score + intercept))) with the intercept that gives the mean."""
    low, high = -50.0, 50.0
    for _ in range(60):
        intercept = (low + high) / 2
        probability = 1 / (1 + np.exp(-(score + intercept)))
        low, high = (low, intercept) if probability.mean() > mean else (intercept, high)
    return probability
