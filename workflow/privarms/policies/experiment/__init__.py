"""Adaptive experiments with M features and two arms: eliminate in the first half, randomise in the second.

The policies are those of Li, Shi & Simchi-Levi (ICML 2024, and arXiv v1); the protocol `experiment` runs them. Features
are treated independently, except that T_min depends on the counts of all features in the first half. The context is the
patient's feature, an int. Params have a field `design`, a `kernels.trial.Design`; states have `viable`, bool[M, 2], and
`trial`, a `kernels.trial.Trial`.
"""

CONTRACT = {
    "init": ("params",),
    "choose": ("params", "state", "feature", "t", "rng"),
    "learn": ("params", "state", "feature", "arm", "reward", "t", "rng"),
}
FAST_PATH = ("params", "environment", "rng", "record")

# The remaining arm of a feature that still has both.
BOTH = -1
