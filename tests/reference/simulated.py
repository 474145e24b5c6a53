"""Simulate a policy of the library on Bernoulli arms, as a study does."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np

from privarms.environments.bernoulli import Environment, pull
from privarms.protocols.bandit import run_bandit


def mean_pulls(policy, parameters, means, horizon, runs, seed=1):
    """Return the mean pulls of each arm at the horizon and their standard errors, both float64[K]."""
    module = import_module(f"privarms.policies.bandit.{policy}")
    cell = SimpleNamespace(paper="reference", study="pulls", policy=policy, environment="bernoulli", horizon=horizon)
    cell.checkpoints = np.array([horizon])
    params, environment = module.configure(**parameters), Environment(pull, np.array(means))
    _, pulls, _ = run_bandit(module, params, environment, cell, runs, np.random.default_rng(seed))
    return pulls.mean(axis=0), pulls.std(axis=0, ddof=1) / np.sqrt(runs)
