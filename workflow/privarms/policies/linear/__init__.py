"""Linear bandits: every arm has a context of its own in every round; the protocol `linear` plays them.

`choose` sees the contexts of all arms, float64[K, d]; `learn` that of the arm pulled, float64[d], and its reward. A
state with the fields `theta_hat`, float64[K, d], and `inverse`, float64[K, d, d], the policy's estimate of each arm and
its V^-1, has both recorded.
"""

CONTRACT = {
    "init": ("params",),
    "choose": ("params", "state", "contexts", "t", "rng"),
    "learn": ("params", "state", "context", "arm", "reward", "t", "rng"),
}
