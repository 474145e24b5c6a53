"""Draw samples of a policy's runs, from the reference implementation or from a fast path."""

import numpy as np

from privarms import fast_paths
from privarms.policies import Policy
from privarms.protocols.bandit import play, play_block


def fast(policy):
    """Return the fast path of a policy's module on Bernoulli arms."""
    return fast_paths.find(policy, "bernoulli")


def sample(law, params, environment, checkpoints, replicates, seed):
    """Return the regret at the checkpoints, and each arm's pulls and reward sum; `law` is a `Policy` or a fast path."""
    arms = len(environment.means)
    samples = (
        np.zeros((replicates, len(checkpoints))),
        np.zeros((replicates, arms), np.int64),
        np.zeros((replicates, arms)),
    )
    simulate, own = (play, (law, params)) if isinstance(law, Policy) else (law, (params,))
    play_block(simulate, own, environment, np.array(checkpoints), np.random.default_rng(seed), *samples)
    return samples


def pairs(one, other, kind="continuous"):
    """Yield every column of two samples; `kind` is the kind of regret and pulls in `two_sample`."""
    for a, b, of in zip(one, other, (kind, kind, "continuous"), strict=True):
        yield from ((of, a[:, i], b[:, i]) for i in range(a.shape[1]))
