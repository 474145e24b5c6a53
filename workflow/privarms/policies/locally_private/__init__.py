"""Bandits whose users privatise their messages, after auxiliary sources; the protocol `locally_private` runs them.

Users of the sources come first, source by source, then those of the target, which is source 0. `init` returns the
state. A context is float64[dimensions] in the unit cube, and a reward is in [0, 1]. `choose` returns the arm of a user
of the target, and only that user knows the context. `learn` changes the state in place by a user's message; `user` is
the number within the source, from 0. Params have the fields `n_arms`, `dimensions` and `users`, int64[M + 1] by source.
A fast path, `simulate(params, environment, checkpoints, rng, record)`, plays a whole run and returns the final state.
If a state has a field `tree`, the protocol can record its bins.
"""

CONTRACT = {
    "init": ("params", "rng"),
    "choose": ("params", "state", "context", "rng"),
    "learn": ("params", "state", "source", "user", "context", "arm", "reward", "rng"),
}
FAST_PATH = ("params", "environment", "checkpoints", "rng", "record")
