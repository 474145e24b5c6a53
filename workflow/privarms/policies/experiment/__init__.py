"""Adaptive experiments with M features and two arms: eliminate in the first half, randomise in the second.

The policies of Li, Shi & Simchi-Levi (ICML 2024, and arXiv v1); the protocol `experiment` runs them. Every feature is
treated on its own but for T_min, which the features' counts in the first half decide together. The context is the
patient's feature, an int. Params have a field `design`, a `_trial.Design`; states have `viable`, bool[M, 2], and
`trial`, a `_trial.Trial`.
"""

CONTRACT = {
    "init": ("params",),
    "choose": ("params", "state", "feature", "t", "rng"),
    "learn": ("params", "state", "feature", "arm", "reward", "t", "rng"),
}
FAST_PATH = ("params", "environment", "rng", "record")

# The arm that is left of a feature, where both are.
BOTH = -1
