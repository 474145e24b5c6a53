"""Audit DP exponential NAS (Theorem 3.1) on two streams of samples that differ in the first one.

It works like `neighbouring_samples`, but the rule asks only after 2, 4, 8, ... samples. All sums but two are near 0:

- At the last but one, the sum is negative and |sum| is one noise scale above the threshold: continuing requires a high
  B. In stream 1 the sum is nearer to 0, so continuing is likelier.
- At the last, the sum is positive and one noise scale below the threshold. In stream 1 it is higher, so stopping is
  likelier. With a high B this requires a low A_t.
- Event: the rule stops there, with an estimate whose t-fold is at least 2 R above the sum of stream 0.
"""

import math
from typing import Literal

import numpy as np

from privarms.audits.audit import Audit
from privarms.audits.events.neighbouring_samples import Inputs, happens, probability_at, threshold
from privarms.policies import functions
from privarms.policies.stopping import Rule, dp_exponential_nas, dp_nas

SECONDS_PER_RUN = 4e-6

# |sum| minus the threshold at the last two queries, in noise scales of a query.
PEAK, LAST = 1.0, -1.0
# The largest number of queries that is tried.
MOST_QUERIES = 24


def configure(
    epsilon: float, alpha: float, beta: float, neighbour: Literal[0, 1], R: float = 1.0, noise: float = 1.0
) -> Inputs:
    """Return stream 0, or its neighbour 1, whose first sample is R instead of -R. All depend on the threshold.

    The last two queries are the first between which the sum can move far enough. Raises ValueError if there are none.
    """
    params = dp_exponential_nas.configure(epsilon, alpha, beta, R, noise)
    for query in range(2, MOST_QUERIES):
        # In whole steps of R. They are even, like the number of samples.
        low, high = (
            2 * math.ceil((threshold(params, k, 2**k) + margin * params.sigma_2) / (2 * R))
            for k, margin in ((query, PEAK), (query + 1, LAST))
        )
        if low <= 2 ** (query - 1) and low + high <= 2**query:
            break
    else:
        raise ValueError(f"epsilon: expected a larger value for at most 2^{MOST_QUERIES} samples; found {epsilon}")
    half = 2 ** (query - 1)
    samples = R * np.concatenate([_steps(0, half), _steps(-low, half), _steps(low + high, 2 * half)])
    samples[0] = R if neighbour else -R
    return Inputs(samples, neighbour, float(R))


def _steps(total: int, count: int) -> np.ndarray:
    """Return steps of 1 or -1 with the sum `total`: float64[count], first alternating from -1, then all in one way."""
    steps = np.where(np.arange(count) % 2 == 0, -1.0, 1.0)
    if total:
        steps[count - abs(total) :] = math.copysign(1.0, total)
    return steps


def probability(params: dp_nas.Params, inputs: Inputs) -> float:
    """Return the probability of the event, for any multiple of the noise."""
    queries = range(1, len(inputs.samples).bit_length())
    sums = np.cumsum(inputs.samples)[[2**k - 1 for k in queries]]
    return probability_at(params, inputs, sums, np.array([threshold(params, k, 2**k) for k in queries]))


# Claimed: epsilon (Theorem 3.1).
AUDIT = Audit(
    subjects="dp_exponential_nas",
    inputs=configure,
    event=happens,
    arguments=lambda policy, params, inputs, *others: (functions(Rule, policy), params, inputs),
    exact=probability,
    changed="Only the first sample of a stream was changed.",
)
