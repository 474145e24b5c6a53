"""The audit of a locally private bandit: how often an event happens to the sums that a batch of users leaves behind."""

import numpy as np
from numba import njit

from privarms.environments.neighbouring_users import UNTOUCHED, place
from privarms.errors import PrivarmsError

KEYS = ()
ROW_PER_BLOCK = True
# A trial is one batch, not a run of the policy: 1.1 microseconds for one user, 2.4 for a hundred.
SECONDS_PER_RUN = 1.5e-6
SECONDS_PER_STEP = 0.0

# The bin of a tree whose two parts are the partition.
ROOT = 0


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Send one batch of an environment `neighbouring_users` to a fresh server `replicates` times.

    One row per block, not per replicate: `trials`, how many batches, and `events`, after how many of them the
    environment's event happened to the sums. `replicate` is the block's first one. With a batch of one user the sums
    are that user's message. All randomness is noise, from the policy's stream.
    """
    for name in ("n_arms", "dimensions", "batch"):
        expected, given = getattr(environment, name), getattr(params, name)
        if given != expected:
            raise PrivarmsError(
                f"{cell.policy} on {cell.environment}: the environment has {name} = {expected} and the policy was "
                f"told {given}; correct the study"
            )
    params = one_batch(params)
    state = policy.init(params, policy_rng)
    record = policy.new_record(0, params.n_arms)
    events = count_events(policy.stream, params, environment, state, record, replicates, policy_rng)
    return {"replicate": np.array([0]), "trials": np.array([replicates]), "events": np.array([events])}


def one_batch(params):
    """The same mechanism, for one batch of an auxiliary source with the target's budget.

    Bins stay at depth 1. The kernel draws noise when it looks at a bin, so there is no warm-up.
    """
    return params._replace(
        epsilons=np.full(2, params.epsilons[0]), users=np.array([0, params.batch]), depth=1, warm_up=0.0
    )


@njit
def count_events(stream, params, environment, state, record, trials, rng):
    """In how many trials the event happens; state and record are overwritten."""
    # The only one. A constant in its place would compile the kernel anew.
    source = len(params.users) - 1
    checkpoints = np.zeros(0, np.int64)
    events = 0
    for _ in range(trials):
        restart(state, params.n_arms)
        stream(params, environment, state, source, checkpoints, rng, record)
        if happened(environment, state.U, state.V):
            events += 1
    return events


@njit
def restart(state, K):
    """As after `init`, with the root halved: two bins, every arm active, all sums 0. The cut stays where it is."""
    state.tree.refined[:] = False
    state.tree.refined[ROOT] = True
    state.arms[:] = (1 << K) - 1
    state.only[:] = -1
    state.t[:] = 0
    state.owed[:] = 0
    state.ready[:] = False
    state.in_bin[:] = 0
    state.pulled[:] = 0
    state.rewarded[:] = 0
    state.U[:] = 0.0
    state.V[:] = 0.0
    state.N[:] = 0.0
    state.D[:] = 0.0
    state.B[:] = 0.0
    state.estimates[:] = 0.0
    state.radii[:] = np.inf
    state.chances[:] = 0.0
    state.stale[:] = True
    state.live[0], state.live[1] = ROOT + 1, ROOT + 2
    state.n_live[0] = 2
    state.n_removals[0] = 0


@njit
def happened(environment, U, V):
    """Whether the environment's event happened; U, V: float64[3, K], noisy sums of the root, unused, and both bins."""
    if environment.event == UNTOUCHED:
        return not (U[ROOT + 2].any() or V[ROOT + 2].any())
    # Who came before the last user is where user 0 would be, without rewards.
    i, arm = place(environment, 0)
    if U[ROOT + 1 + i, arm] > environment.batch - 1 or V[ROOT + 1 + i, arm] > 0:
        return False
    i, arm = place(environment, 1)
    return U[ROOT + 1 + i, arm] >= 1 and V[ROOT + 1 + i, arm] >= 1
