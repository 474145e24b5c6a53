"""Adaptive experiments with features: the regret and the estimates of every replicate."""

import numpy as np

from privarms.contextual_elimination import experiment

KEYS = ("feature",)
RECORDS = ("runs", "features", "first_feature")


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Run replicates on the policy's stream, by its exact fast path for this environment where it has one.

    cell.record: "runs" (the default): a row per replicate with `regret` and `first_half_regret` over all features,
    `squared_error`, the largest of the features, nan where one has no estimate, and how many features are
    `eliminated`, `wrong` and `missing`; "features": a row per replicate and feature, from 1, with the columns of
    `experiment.measures`; "first_feature": the rows of feature 1 alone.
    Arrivals and choices share one stream: the fast paths draw both at once, so common random numbers have no meaning.
    """
    records = experiment.run(policy, params, environment, cell.environment, replicates, policy_rng)
    found = experiment.measures(environment, records)
    if cell.record in (None, "runs"):
        totals = ("regret", "first_half_regret", "eliminated", "wrong", "missing")
        return {
            "replicate": np.arange(replicates),
            **{name: found[name].sum(axis=1) for name in totals},
            "squared_error": found["squared_error"].max(axis=1),
        }
    if cell.record not in RECORDS:
        raise ValueError(f"record: expected {', '.join(RECORDS)}; found {cell.record!r}")
    features = 1 if cell.record == "first_feature" else params.design.M
    return {
        "replicate": np.repeat(np.arange(replicates), features),
        "feature": np.tile(np.arange(1, features + 1), replicates),
        **{name: values[:, :features].ravel() for name, values in found.items()},
    }
