"""Linear bandits: every arm has its own context in every round; the protocol `linear` runs them.

`choose` gets the contexts of all arms, float64[K, d]; `learn` gets the context of the pulled arm, float64[d], and its
reward. Rewards may be any numbers: a policy that is private in the rewards clips them. Two fields of the state are
recorded if it has them: `theta_hat`, float64[K, d], the estimate of each arm, and `inverse`, float64[K, d, d], its
V^-1.
"""

CONTRACT = {
    "init": ("params",),
    "choose": ("params", "state", "contexts", "t", "rng"),
    "learn": ("params", "state", "context", "arm", "reward", "t", "rng"),
}
