"""Stochastic bandits, arm by arm and round by round; the protocol `bandit` plays them, and those that build on it.

`init(params)` makes the state, `choose` the arm of round t, from 1, and `learn` takes its reward in; `context` is an
empty float64 array. A policy that looks at no context may say in ALSO_FITS which families' protocols it fits too.
A fast path is `simulate(params, environment, checkpoints, rng, record)`, of a whole run, in the same law.
"""

CONTRACT = {
    "init": ("params",),
    "choose": ("params", "state", "context", "t", "rng"),
    "learn": ("params", "state", "context", "arm", "reward", "t", "rng"),
    "POLICY": "Policy(init, choose, learn)",
}
FAST_PATH = ("params", "environment", "checkpoints", "rng", "record")
