"""Adaptive experiments with features, in numbers too large for a row a replicate: totals over a block."""

import numpy as np

from privarms.contextual_elimination import experiment

KEYS = ("feature",)
ROW_PER_BLOCK = True


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates as the protocol `experiment` does; a row per block and feature, from 1, and one with feature 0.

    `trials`, how many replicates; and over these the sums `regret`, `first_half_regret`, `squared_error` (of the
    estimates that are not missing) and, for standard errors, `regret_squares` and `squared_error_squares`, the sums
    of their squares; and the counts `eliminated`, `wrong` and `missing`.
    Feature 0 is the whole run: its regret is that of all features, its squared error the largest of the features in
    runs where none is missing; it is eliminated where every feature is, wrong or missing where any feature is.
    `replicate` is the block's first one.
    """
    records = experiment.run(policy, params, environment, cell.environment, replicates, policy_rng)
    found = experiment.measures(environment, records)

    def with_run(name, over_features):
        return np.column_stack([over_features(found[name], axis=1), found[name]])

    regret, errors = with_run("regret", np.sum), with_run("squared_error", np.max)
    features = params.design.M + 1
    return {
        "replicate": np.zeros(features, np.int64),
        "feature": np.arange(features),
        "trials": np.full(features, replicates),
        "regret": regret.sum(axis=0),
        "regret_squares": (regret**2).sum(axis=0),
        "first_half_regret": with_run("first_half_regret", np.sum).sum(axis=0),
        "squared_error": np.nansum(errors, axis=0),
        "squared_error_squares": np.nansum(errors**2, axis=0),
        "eliminated": with_run("eliminated", np.min).sum(axis=0),
        "wrong": with_run("wrong", np.max).sum(axis=0),
        "missing": with_run("missing", np.max).sum(axis=0),
    }
