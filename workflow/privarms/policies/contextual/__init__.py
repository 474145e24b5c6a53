"""Bandits whose users come with a context each, float64[d] in the unit cube; the protocol `contextual` plays them.

`init(params)` makes the state, `choose` the arm for the user of round t, from 1, and `learn` takes the reward in.
"""

CONTRACT = {
    "init": ("params",),
    "choose": ("params", "state", "context", "t", "rng"),
    "learn": ("params", "state", "context", "arm", "reward", "t", "rng"),
}
