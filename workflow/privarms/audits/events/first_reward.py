"""Audit the choices of DP-UCB, and of private UCB without bonus, on tables that differ in the first reward of arm 0.

One reward of arm 0 is in one node per level of that arm's counter, and successive choices reveal these nodes one after
another. After each of K arms has been pulled, two rounds remain: horizon K + 2. Event: both go to arm 0.

- The first requires arm 0's node of level 0, over one reward, to be above all other arms' nodes.
- The second requires its node of level 1, over two rewards, to be above twice the highest of them plus about a width.
- Both nodes are in Laplace tails, where one more reward is a factor of e^(epsilon/L) each.
- The event would also be likely if all K - 1 other nodes were low; for K - 1 > 1 + 2 this is the rarer way.
- So the event reveals 2 of the L levels that share the budget, L = ceil(log2(K + 2)). At K = 6 this is about two thirds
  of epsilon, and with half the noise four thirds.
"""

import itertools
import math
from typing import Literal

import numpy as np
import scipy
from numba import njit

from privarms.audits.audit import Audit, Inputs
from privarms.jit.cache import compiled
from privarms.mechanisms import laplace
from privarms.policies import Policy, functions
from privarms.policies.bandit import dp_ucb, private_ucb

SECONDS_PER_RUN = 1e-6

Params = dp_ucb.Params | private_ucb.Params


def configure(K: int, neighbour: Literal[0, 1]) -> Inputs:
    """Return 0 or, for neighbour 1, 1 as arm 0's first reward, K >= 5. Its second one is 1, all others are 0."""
    if K < 5:
        raise ValueError(f"K: expected at least 5 arms; found {K}")
    return Inputs(neighbour, n_arms=K)


def arguments(policy, params, inputs, horizon, trials, rng) -> tuple:
    """Return the arguments of `happens`. Raise ValueError for a horizon that is not K + 2."""
    if horizon != inputs.n_arms + 2:
        raise ValueError(f"horizon: expected K + 2 = {inputs.n_arms + 2} rounds for this audit; found {horizon}")
    return functions(Policy, policy), params, inputs, horizon


@njit
def happens(policy, params, inputs, horizon, rng):
    """Draw whether the two choices after the first K are arm 0."""
    no_context = np.empty(0)
    state = policy.init(params)
    pulls = 0
    for t in range(1, horizon + 1):
        arm = policy.choose(params, state, no_context, t, rng)
        if t > inputs.n_arms and arm != 0:
            return False
        reward = 0.0
        if arm == 0:
            reward = float(inputs.neighbour) if pulls == 0 else 1.0
            pulls += 1
        state = policy.learn(params, state, no_context, arm, reward, t, rng)
    return pulls == 3


def probability(params: Params, inputs: Inputs) -> float:
    """Return the probability of the event, for any multiple of the noise.

    The unit is the node scale. M is the highest of the other arms' nodes, with distribution function F^(K - 1), F that
    of a standard Laplace variable with density f. The result is nan for a counter of paths or with fresh noise, and
    with a private bonus:

      integral of (K - 1) f(m) F(m)^(K - 2) (1 - F(m - x_1)) (1 - F(2 m + g - x_2)) dm

    x_1, x_2: arm 0's sums of one and of two rewards
    g: the width of a single node plus (2 - sqrt 2) r; by g, twice another arm's index exceeds that of arm 0's two pulls
    r: one pull's confidence radius in round T: sqrt(2 ln T), or sqrt(ln(2 / delta_T) / 2) for private UCB (width 0)
    """
    K, scale = inputs.n_arms, params.node_scale
    one, two = inputs.neighbour / scale, (inputs.neighbour + 1) / scale
    if isinstance(params, dp_ucb.Params):
        if params.path:
            return math.nan
        width, radius = float(params.width[1]), math.sqrt(2 * math.log(K + 2))
    elif params.fresh or params.gamma_scale:
        return math.nan
    else:
        width, radius = 0.0, compiled(private_ucb.confidence_factor)(params, K + 2)
    more = (width + (2 - math.sqrt(2)) * radius) / scale

    def density(m):
        highest = (K - 1) * laplace.density(m) * laplace.at_most(m) ** (K - 2)
        return highest * laplace.above(m - one) * laplace.above(2 * m + more - two)

    kinks = sorted({-40.0, min(0.0, one), max(0.0, one), (two - more) / 2, 0.0, 40.0})
    return sum(
        scipy.integrate.quad(density, a, b, epsabs=0, epsrel=1e-12, limit=200)[0] for a, b in itertools.pairwise(kinks)
    )


AUDIT = Audit(
    subjects=("dp_ucb", "private_ucb_noise_only"),
    inputs=configure,
    event=happens,
    arguments=arguments,
    exact=probability,
    changed="Only the first reward of an arm was changed, with {K} arms, over {horizon} rounds.",
    setting={"K": 6, "horizon": 8, "width": "exact", "times": 500},
)
