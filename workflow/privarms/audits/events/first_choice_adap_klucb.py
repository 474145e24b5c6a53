"""Audit the first comparison of AdaP-KLUCB's indices, on two neighbouring reward streams; see `first_choice`.

The first batch is one reward. The sum of reward, noise and alpha ln(3) / epsilon is clipped to [0, 1], so every index
is 1 unless its noise is far below 0. The choice is then a draw among equal indices, which hides the noise. The audit
uses the indices: they are functions of the released means, so they are private too. The first reward of arm 0 is 0 or,
for neighbour 1, 1; that of arm 1 is 0. Event: the index of arm 1 of two is larger. Then the noise of arm 0 lies in its
lower tail, where its density changes by exactly e^epsilon over a step of epsilon scales. Theorem 6 of Azize & Basu 2022
promises epsilon.
"""

from typing import Literal

import numpy as np
import scipy

from privarms.audits.audit import Audit
from privarms.audits.events.first_choice import Inputs, first_mean_of_index_one, happens
from privarms.inference.divergences import kl_upper
from privarms.jit.cache import compiled
from privarms.kernels.episodes import Params

SECONDS_PER_RUN = 6e-7


def configure(K: Literal[2], neighbour: Literal[0, 1]) -> Inputs:
    """Return stream 0, or its neighbour 1, where the first reward of arm 0 is 1 instead of 0."""
    return Inputs(K, changed=0, neighbour=neighbour)


def probability(params: Params, inputs: Inputs) -> float:
    """Return the probability that the index of arm 1 exceeds that of arm 0; indices increase in the clipped means.

    Either the clipped mean of arm 0 is 0 and that of arm 1 is above 0. Or arm 0 has a mean x above 0 and below the
    first mean whose index is 1 in double precision, and the mean of arm 1 is above x.
    """
    scale, log = params.noise / params.epsilon, np.log(inputs.n_arms + 1)
    bonus = params.alpha * log / params.epsilon
    zero, one = scipy.stats.laplace(bonus + inputs.neighbour, scale), scipy.stats.laplace(bonus, scale)
    top = first_mean_of_index_one(lambda mean: compiled(kl_upper)(mean, params.alpha * log))
    # Between these ends both distributions are exponential, except for a kink at their centres.
    kinks = [c for c in (bonus, bonus + inputs.neighbour) if 0 < c < top]
    between, _ = scipy.integrate.quad(lambda x: zero.pdf(x) * one.sf(x), 0, top, points=kinks or None, epsabs=1e-15)
    return float(zero.cdf(0) * one.sf(0) + between)


AUDIT = Audit(
    subjects="adap_klucb",
    inputs=configure,
    event=happens,
    exact=probability,
    likelier=0,
    changed="Only the first reward of an arm was changed, with {K} arms, before the first choice.",
    setting={"K": 2, "times": 50},
)
