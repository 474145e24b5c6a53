"""Privacy audits of a policy or mechanism: how often an event happens on one of two neighbouring inputs."""

import numpy as np

from privarms.errors import StudyError
from privarms.protocols._agreement import agree
from privarms.registry.modules import EnvironmentModule

# The audit takes the role of the environment and defines which policies it is about.
FAMILY = None
KEYS = ()
COLUMNS = {"counts": ("trials", "events")}
RECORDS = tuple(COLUMNS)
ROW_PER_BLOCK = ("counts",)


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Count an event in `replicates` trials on an audit's inputs; only the subject's own noise is random."""
    sizes = {"K": "n_arms", "dimensions": "dimensions", "batch": "batch"}
    agree(cell, params, **{name: getattr(environment, field, None) for name, field in sizes.items()})
    audit = EnvironmentModule(cell.environment).audit
    try:
        events = audit.count(policy, params, environment, cell.horizon, replicates, policy_rng)
    except ValueError as error:
        raise StudyError(cell.paper, f"studies.{cell.study}", f"{cell.environment}: {error}") from error
    return {"replicate": np.array([0]), "trials": np.array([replicates]), "events": np.array([events])}
