"""Audit DP-NAS (Theorem 3.1) on two streams of samples that differ in the first one.

Theorem 3.1 of Sajed & Sheffet 2019 promises Pr[event | stream 1] <= e^epsilon Pr[event | stream 0] for every event. It
assigns epsilon/6 to the threshold's noise B, epsilon/3 to the noise A_t of the query answered with yes, and epsilon/2
to the noise of the mean. The streams and the event are chosen from the formulas and use up all three. The first sample
is -R in stream 0 and R in stream 1, so every sum is 2 R higher in stream 1.

- The next samples are -R until |sum| is 2 noise scales below the threshold of line 10. Most runs that continue there
  have a high B. In stream 1 the sum is nearer to 0, so continuing is likelier.
- Then the samples are R until the sum, on the other side of 0, is 3 noise scales below the threshold. In stream 1 the
  sum is nearer to the threshold, so stopping is likelier. With a high B this requires a low A_t.
- Event: DP-NAS stops there, on the positive side, with an estimate whose t-fold is at least 2 R above the sum of stream
  0. This requires noise L >= 2 R in stream 0 and L >= 0 in stream 1.

With half the noise the two sums are twice the number of scales apart: the ratio becomes about e^(2 epsilon).
"""

from typing import Literal, NamedTuple

import numpy as np
import scipy
from numba import njit
from scipy.special import roots_legendre

from privarms.audits.audit import Audit
from privarms.jit.cache import compiled
from privarms.policies import functions
from privarms.policies.stopping import Rule, dp_nas

SECONDS_PER_RUN = 1e-4

# |sum| minus the threshold at the turning point and at the end, in noise scales of a query.
PEAK, LAST = -2.0, -3.0


class Inputs(NamedTuple):
    """samples: float64[n], of the neighbour; neighbour: which stream, 0 or 1; R: the range."""

    samples: np.ndarray
    neighbour: int
    R: float


def configure(
    epsilon: float, alpha: float, beta: float, neighbour: Literal[0, 1], R: float = 1.0, noise: float = 1.0
) -> Inputs:
    """Return stream 0, or its neighbour 1, whose first sample is R instead of -R. All depend on the threshold."""
    params = dp_nas.configure(epsilon, alpha, beta, R, noise)
    samples, total, t = [-R], -R, 1
    for sign, margin in ((-1, PEAK), (1, LAST)):
        while sign * total < threshold(params, t, t) + margin * params.sigma_2:
            t += 1
            total += sign * R
            samples.append(sign * R)
    samples[0] = R if neighbour else -R
    return Inputs(np.array(samples, float), neighbour, float(R))


def threshold(params: dp_nas.Params, query: int, t: int) -> float:
    """Return the |sum| at which a query after t samples stops the rule without noise (Algorithm 1, line 10 times t)."""
    radius, margin = compiled(dp_nas.confidence_radius), compiled(dp_nas.noise_margin)
    return t * radius(params, query, t) * (1 + 1 / params.alpha) + margin(params, query)


@njit
def happens(rule, params, inputs, rng):
    """Query the rule about the samples; return whether it stops on the positive side with a high enough estimate."""
    state = rule.init(params, rng)
    t, total, stopped = 0, 0.0, False
    while not stopped and t < len(inputs.samples):
        state = rule.ask(params, state, rng)
        while t < min(state.at, len(inputs.samples)):
            total += inputs.samples[t]
            t += 1
        stopped = t == state.at and rule.stops(params, state, t, total, rng)
    unchanged = total - 2 * inputs.R * inputs.neighbour
    return stopped and unchanged > 0 and t * rule.estimate(params, t, total, rng) >= unchanged + 2 * inputs.R


def probability(params: dp_nas.Params, inputs: Inputs) -> float:
    """Return the probability of the event, for any multiple of the noise."""
    thresholds = np.array([threshold(params, t, t) for t in range(1, len(inputs.samples) + 1)])
    return probability_at(params, inputs, np.cumsum(inputs.samples), thresholds)


def probability_at(params: dp_nas.Params, inputs: Inputs, sums: np.ndarray, thresholds: np.ndarray) -> float:
    """Return the probability for a rule with queries at these sums, float64[n], and noiseless thresholds, float64[n].

    Given B = b the queries are independent. With m_t = |sum| - threshold, the query after t samples stops the rule with
    probability F_t(b) = F((m_t - b) / sigma_2), F the distribution function of a standard Laplace variable. So it is

      Pr[L >= 2 R - 2 R neighbour]
      * integral of f_B(b) prod over t of (1 - F_t(b)), negative side, (1 - prod of the same, positive side) db.

    The sides are those of stream 0.
    """
    positive = sums - 2 * inputs.R * inputs.neighbour > 0
    margins = np.abs(sums) - thresholds
    # 12 scales below the margins of the negative side the rule stops too early. If this is also 10 scales below 0,
    # where the density of B falls, the integrand vanishes. It vanishes 30 scales above all margins. A scale has ten
    # panels.
    low = min(margins[~positive].max() - 12 * params.sigma_2, -10 * params.sigma_2)
    ends = low, margins.max() + 30 * params.sigma_2
    panels = round(10 * (ends[1] - ends[0]) / params.sigma_2)
    edges = np.unique([*np.linspace(*ends, panels + 1), *([0.0] if ends[0] < 0 < ends[1] else [])])
    nodes, weights = roots_legendre(4)
    b = ((edges[1:] + edges[:-1])[:, None] + np.diff(edges)[:, None] * nodes).ravel() / 2
    goes_on = np.array([[_log_no_stop(params, margins[side], x) for side in (~positive, positive)] for x in b])
    density = (
        scipy.stats.laplace.pdf(b / params.sigma_1) / params.sigma_1 * np.exp(goes_on[:, 0]) * -np.expm1(goes_on[:, 1])
    )
    stops = float((density.reshape(-1, len(nodes)) @ weights) @ np.diff(edges) / 2)
    return stops * float(scipy.stats.laplace.sf(2 * inputs.R * (1 - inputs.neighbour) / params.sigma_3))


def _log_no_stop(params, margins, b):
    """Return the log probability that no query with one of these margins stops the rule, given B = b."""
    x = (margins - b) / params.sigma_2
    below = 0.5 * np.exp(-np.abs(x))
    # Far above the margin a query stops the rule with certainty.
    with np.errstate(divide="ignore"):
        return float(np.where(x < 0, np.log1p(-below), np.log(below)).sum())


# Claimed: epsilon (Theorem 3.1).
AUDIT = Audit(
    subjects="dp_nas",
    inputs=configure,
    event=happens,
    arguments=lambda policy, params, inputs, *others: (functions(Rule, policy), params, inputs),
    exact=probability,
    changed="Only the first sample of a stream was changed.",
)
