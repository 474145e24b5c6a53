"""What a policy promises: the kind of privacy, and the delta of approximate privacy."""

from collections.abc import Mapping

from privarms.errors import PrivarmsError
from privarms.registry.modules import PolicyModule

PURE, APPROXIMATE, LOCAL, JOINT = KINDS = ("pure", "approximate", "local", "joint")


def privacy(policy: str) -> str:
    """Return the kind of privacy that a policy or mechanism promises: its module's PRIVACY.

    By default it is "local" in the family `locally_private` and "pure" elsewhere. Raises PrivarmsError for any other
    word.
    """
    default = LOCAL if PolicyModule(policy).family == "locally_private" else PURE
    kind = PolicyModule(policy).declared("PRIVACY", default)
    if kind not in KINDS:
        raise PrivarmsError(
            f"{PolicyModule(policy).shown}: PRIVACY: expected one of {', '.join(KINDS)}; found {kind!r}"
        )
    return kind


def promised_delta(policy: str, values: Mapping) -> float:
    """Return the delta that a policy promises with these parameters: 0 unless its privacy is approximate.

    It is the parameter `delta` of `configure`, or the module's DELTA. Raises PrivarmsError if there is none in [0, 1).
    """
    if privacy(policy) != APPROXIMATE:
        return 0.0
    argument = PolicyModule(policy).arguments.get("delta")
    written = PolicyModule(policy).declared("DELTA") if argument is None or argument.required else argument.default
    found = values.get("delta", written)
    if not isinstance(found, int | float) or not 0 <= found < 1:
        raise PrivarmsError(
            f"{PolicyModule(policy).shown}: PRIVACY = 'approximate' needs a delta in [0, 1), as the parameter `delta` "
            f"of `configure` with a default, or as DELTA; found {'none' if found is None else repr(found)}"
        )
    return float(found)
