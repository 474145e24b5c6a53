"""What a policy promises: the kind of privacy, and the delta of approximate privacy."""

import inspect
from collections.abc import Mapping

from privarms.errors import PrivarmsError
from privarms.registry import library

PURE, APPROXIMATE, LOCAL, JOINT = KINDS = ("pure", "approximate", "local", "joint")


def privacy(policy: str) -> str:
    """Return the kind of privacy that a policy or mechanism promises: its module's PRIVACY.

    By default it is "local" in the family `locally_private` and "pure" elsewhere. Raises PrivarmsError for any other
    word.
    """
    default = LOCAL if library.family(policy) == "locally_private" else PURE
    kind = library.attributes("policies", policy).get("PRIVACY", default)
    if kind not in KINDS:
        raise PrivarmsError(
            f"{library.policy_file(policy)}: PRIVACY: expected one of {', '.join(KINDS)}; found {kind!r}"
        )
    return kind


def promised_delta(policy: str, values: Mapping) -> float:
    """Return the delta that a policy promises with these parameters: 0 unless its privacy is approximate.

    It is the parameter `delta` of `configure`, or the module's DELTA. Raises PrivarmsError if there is none in [0, 1).
    """
    if privacy(policy) != APPROXIMATE:
        return 0.0
    module = library.attributes("policies", policy)
    default = inspect.signature(module["configure"]).parameters.get("delta")
    written = default.default if default is not None and default.default is not default.empty else module.get("DELTA")
    found = values.get("delta", written)
    if not isinstance(found, int | float) or not 0 <= found < 1:
        raise PrivarmsError(
            f"{library.policy_file(policy)}: PRIVACY = 'approximate' needs a delta in [0, 1), as the parameter `delta` "
            f"of `configure` with a default, or as DELTA; found {'none' if found is None else repr(found)}"
        )
    return float(found)
