"""Stochastic bandits: one arm in every round; the protocol `bandit` and those that build on it run them.

`init(params)` returns the state, `choose` the arm of round t, from 1, and `learn` the state after the reward; `context`
is an empty float64 array. A policy that ignores contexts may list in ALSO_FITS other families whose protocols it fits.
A fast path, `simulate(params, environment, checkpoints, rng, record)`, plays a whole run with the same distribution.
"""

CONTRACT = {
    "init": ("params",),
    "choose": ("params", "state", "context", "t", "rng"),
    "learn": ("params", "state", "context", "arm", "reward", "t", "rng"),
}
FAST_PATH = ("params", "environment", "checkpoints", "rng", "record")
