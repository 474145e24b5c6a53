"""Bandits whose users privatise what they send, after auxiliary sources; the protocol `locally_private` runs them.

Users of the sources come first, source by source, then those of the target, which is source 0. `init` makes the state,
`choose` the arm of a user of the target, who alone knows the context, and `learn` changes the state in place by what a
user sends; `user` is the number within the source, from 0. Params have the fields `n_arms`, `dimensions` and `users`,
int64[M + 1] by source. A fast path is `simulate(params, environment, checkpoints, rng, record)`: a whole run, which
returns the state at the end; a state with a field `tree` has bins, which the protocol can record.
"""

CONTRACT = {
    "init": ("params", "rng"),
    "choose": ("params", "state", "context", "rng"),
    "learn": ("params", "state", "source", "user", "context", "arm", "reward", "rng"),
}
FAST_PATH = ("params", "environment", "checkpoints", "rng", "record")
