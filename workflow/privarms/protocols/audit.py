"""The privacy audit of a policy or mechanism: how often an event happens on one of two neighbouring inputs."""

import numpy as np

from privarms.errors import StudyError
from privarms.protocols._agreement import agree
from privarms.studies import library

# The audit, which stands in the place of the environment, says which policy it is about.
FAMILY = None
KEYS = ()
RECORDS = ("counts",)
ROW_PER_BLOCK = ("counts",)
# What inputs and subject may both have been told: the field, and what a study calls it.
SIZES = {"n_arms": "K", "dimensions": "dimensions", "batch": "batch"}


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    """Try `replicates` times on the inputs of a module of `audits`.

    One row per block, not per replicate: `trials`, how many, and `events`, in how many of them the event happened.
    `replicate` is the block's first one. Only the subject's own noise is random: it comes from the policy's stream.
    """
    sizes = {field: getattr(environment, field, None) for field in SIZES if field in params._fields}
    agree(cell, **{SIZES[k]: (size, getattr(params, k)) for k, size in sizes.items() if size is not None})
    audit = library.load("environments", cell.environment).AUDIT
    try:
        events = audit.count(policy, params, environment, cell.horizon, replicates, policy_rng)
    except ValueError as error:
        raise StudyError(cell.paper, f"studies.{cell.study}", f"{cell.environment}: {error}") from error
    return {"replicate": np.array([0]), "trials": np.array([replicates]), "events": np.array([events])}
