"""Fast paths: exact, faster simulations of one policy in one environment.

The fast path of a policy in an environment is the function `simulate` of `fast_paths/{family}/{policy}__{environment}`.
If it serves every environment of the family, the module is `fast_paths/{family}/{policy}`. Its module explains why its
distribution is that of the reference implementation in `policies/{family}/{policy}`. An extension can have the same
folder. A policy that has another one's rules with other parameters sets FAST_PATHS_OF = "that policy" to share its
path.
"""

import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType


def find(policy: ModuleType, environment: str) -> Callable | None:
    """Return the fast path of a policy, a module, in an environment, by name; None if it has none."""
    folder, _, name = getattr(policy, "__name__", "").rpartition(".")
    # Split from the right: the folder of an extension may have any name.
    head, policies, family = folder.rpartition(".policies.")
    if not policies:
        return None
    path = f"{head}.fast_paths.{family}.{getattr(policy, 'FAST_PATHS_OF', name)}"
    try:
        module = next(filter(importlib.util.find_spec, (f"{path}__{environment}", path)), None)
    except ModuleNotFoundError:  # no folder of this family
        return None
    return importlib.import_module(module).simulate if module else None
