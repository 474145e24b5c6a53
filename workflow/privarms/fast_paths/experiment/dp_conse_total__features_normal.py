"""The same with normal rewards: the environment draws them."""

from privarms.fast_paths.experiment.dp_conse_total__features_bernoulli import simulate

__all__ = ["simulate"]
