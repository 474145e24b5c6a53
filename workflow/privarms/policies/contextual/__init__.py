"""Bandits whose users each have a context, float64[d] in the unit cube; the protocol `contextual` runs them.

`init(params)` returns the state, `choose` the arm of round t, from 1, and `learn` the state after the reward.
"""

CONTRACT = {
    "init": ("params",),
    "choose": ("params", "state", "context", "t", "rng"),
    "learn": ("params", "state", "context", "arm", "reward", "t", "rng"),
}
