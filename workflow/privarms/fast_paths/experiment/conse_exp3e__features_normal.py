"""The same with normal rewards: the environment draws them."""

from privarms.fast_paths.experiment.conse_exp3e__features_bernoulli import simulate

__all__ = ["simulate"]
