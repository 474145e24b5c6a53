"""How the claims about the text are measured: the policy's privacy, the constant of (14), (17), a printed density."""

import math

import numpy as np
import pandas as pd

from privarms.claims.verdict import Measured
from privarms.environments import exponential
from privarms.inference.laplace_sums import log_miss_at_one_look, log_miss_bound
from privarms.jit.cache import compiled
from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025._transfer import DIMENSIONS
from privarms.protocols.locally_private import expected_rewards
from privarms.studies.results import Results

# Points along an edge of the cube on which approximation errors are judged; a power of 2, so that bins hold as many.
FINE = 4096
ARMS = 3


def _audited(results: Results, variant: str, differ: str) -> pd.DataFrame:
    table = results.inference("privacy")
    return table[(table["variant"] == variant) & (table["differ"] == differ)]


def privacy_loss(results: Results, variant: str, differ: str) -> Measured:
    """The loss that messages show, over epsilon: the largest over epsilon, events and batches.

    I is of the logarithm of the ratio of an event's probabilities with the two users, from Clopper and Pearson's
    intervals that hold together. An event that is impossible with both users shows nothing; of one that can happen and
    that neither user's messages had nothing is known, nor then of the largest
    """
    table = _audited(results, variant, differ)
    seen = table["likelier"] + table["other"] > 0
    table = table[seen | table["exact"].notna()]
    parts = []
    for row in table.itertuples():
        ends = [Measured.fraction(events, row.trials, together=2 * len(table)) for events in (row.likelier, row.other)]
        with np.errstate(divide="ignore", invalid="ignore"):
            value, low, high = (
                float(np.log(a) - np.log(b)) / row.epsilon
                for a, b in ((ends[0].value, ends[1].value), (ends[0].low, ends[1].high), (ends[0].high, ends[1].low))
            )
        parts.append((Measured(value, math.nan, int(row.trials), low=low, high=high), row))
    found = Measured.largest([one for one, _ in parts])
    shown, where = max(parts, key=lambda pair: pair[0].low)
    note = f"Surely {shown.low:.3g} times epsilon at epsilon = {where.epsilon:g} ({where.event}, batch {where.batch})."
    return Measured(found.value, found.se, found.replicates, note, found.low, found.high)


def exact_privacy_loss(results: Results, variant: str, differ: str) -> Measured:
    """The same from the probabilities themselves."""
    table = _audited(results, variant, differ)
    losses = (table["exact"] / table["epsilon"]).dropna()
    # Sums of many terms: a loss of exactly epsilon is epsilon but for rounding.
    return Measured(round(float(losses.max()), 9), 0.0, None, f"Over {len(losses)} events that can happen.")


def miss_at_one_look(results: Results, c: float) -> Measured:
    """n^2 times the probability that noise alone is outside (14) at one look, f = 1: the largest in Figure 7."""
    return _worst(results, lambda n: log_miss_at_one_look(c, n))


def miss_at_any_look(results: Results, c: float) -> Measured:
    """n^2 times a bound on the probability that any estimate is outside (14) at any look, for n bins: the same."""
    return _worst(results, lambda n: log_miss_bound(c, n, ARMS))


def _worst(results: Results, log_probability) -> Measured:
    users = sorted(panels.panel(results, "fig7a")["n"].unique())
    logs = {int(n): log_probability(int(n)) + 2 * math.log(n) for n in users}
    worst = max(logs, key=lambda n: logs[n])
    return Measured(math.exp(logs[worst]), 0.0, None, f"At n = {worst:,}.")


def _edges(s: int) -> list[float]:
    """The edges of a bin of depth s: the longest is halved first, so that they differ by a factor of 2 at most."""
    return [2.0 ** -(s // DIMENSIONS + (k < s % DIMENSIONS)) for k in range(DIMENSIONS)]


def _tau(s: int) -> float:
    """(17)"""
    return 2 * math.sqrt(DIMENSIONS) * 2 ** (-s / DIMENSIONS)


def diameter(results: Results, depth: int) -> Measured:
    """A bin's diameter over (17)'s tau_s, the largest down to a depth."""
    ratios = [math.hypot(*_edges(s)) / _tau(s) for s in range(depth + 1)]
    note = f"From {min(ratios):.3f} to {max(ratios):.3f} down to depth {depth}."
    return Measured(round(max(ratios), 9), 0.0, None, note)


def approximation_error(results: Results, depth: int) -> Measured:
    """How far a bin's mean reward is from its rewards, over (17)'s tau_s: the largest down to a depth.

    Of Figure 4's reward functions, which depend on the first coordinate alone: uniform contexts
    """
    x = (np.arange(FINE) + 0.5) / FINE
    contexts = np.column_stack([x] + [np.full_like(x, 0.5)] * (DIMENSIONS - 1))
    means = compiled(expected_rewards)(exponential.configure(ARMS, "as_printed"), np.ascontiguousarray(contexts))
    found = []
    for s in range(depth + 1):
        # The worst cut leaves the first coordinate its longest edge.
        width = int(max(_edges(s)) * FINE)
        bins = means.reshape(-1, width, ARMS)
        found.append(float(np.abs(bins - bins.mean(axis=1, keepdims=True)).max()) / _tau(s))
    return Measured(max(found), 0.0, None, f"At depth {int(np.argmax(found))}.")


def density_total(results: Results, gamma: float, d: int) -> Measured:
    """The integral of c_norm ||x - 1/2||_inf^gamma over the cube with the printed c_norm = 2^-gamma d / (d + gamma)."""
    # The mass between radii r and r + dr is d 2^d r^(d - 1) dr, so that the power integrates to the same expression.
    return Measured((2**-gamma * d / (d + gamma)) ** 2, 0.0, None, "Its inverse makes it a density.")
