"""The keys of a claim's declared measure: which of them go together, and which a number needs.

`claims.measures` computes the measures. The check is here because it belongs to the plan of a run.
"""

from collections.abc import Mapping

from privarms.errors import PrivarmsError

# Every measure reads these.
ROWS = {"table", "cells", "where", "condition", "floor"}
# Each kind names its number; with the other keys that it reads. Any other key would be ignored without a word.
READ = {
    "of": {"extreme", "se", "sd", "interval", "range", "exact", "replicates", "over"},
    "spread": {"se", "sd", "interval", "range", "exact", "replicates", "over"},
    "ratio": {"extreme", "to", "by", "se", "sd", "range", "exact", "replicates", "over"},
    "geometric": {"to", "by", "se", "replicates", "over"},
    "difference": {"to", "by", "se", "range", "replicates", "over"},
    "growth": {"extreme", "along", "by", "se", "replicates", "over"},
    "fraction": {"extreme", "trials"},
    "distance": {"extreme", "replicates"},
}
# Without one of these, a number has the standard error in the column with its name and `_se`.
ERRORS = ("se", "interval", "exact")
# Of these keys only the first given one would be used.
EITHER = ("exact", "interval", "sd", "range")
# The spread of a single run is unknown, or does not exist.
WITHOUT_SPREAD = ("exact", "interval", "spread", "distance")


def kind_of(measure: Mapping) -> str:
    """Return the key of a measure that names its number, one of READ."""
    return next(kind for kind in READ if kind in measure)


def default_error(number: str) -> str:
    """Return the column with the standard error of a column: `regret_se` for `regret` and `regret_mean`."""
    return f"{number.removesuffix('_mean')}_se"


def check(where: str, measure: Mapping, tolerance: Mapping) -> None:
    """Raise PrivarmsError for keys of a declared measure that contradict or ignore each other, or lack an error.

    where: file and claim; measure: as in claims.schema.json, $defs.measure, with all fields filled
    """
    given = {key: value for key, value in measure.items() if value is not False}
    kind = kind_of(given)
    if unread := sorted(given.keys() - ROWS - READ[kind] - {kind}):
        expected = ", ".join(sorted(READ[kind]))
        raise PrivarmsError(
            f"{where}.measure.{unread[0]}: `{kind}` does not use this key. Expected some of {expected}; remove it"
        )
    if given.get("extreme") == "pooled" and kind != "fraction":
        raise PrivarmsError(f"{where}.measure.extreme: found pooled. Expected max or min; only a `fraction` is pooled")
    both = [key for key in EITHER if key in given]
    both += ["se"] if "se" in given and both and both[0] in ("exact", "interval") else []
    if len(both) > 1:
        raise PrivarmsError(f"{where}.measure: found {' and '.join(both)}. Expected one of them; remove the other")
    if "published_replicates" in tolerance and (without := [k for k in WITHOUT_SPREAD if k in given]):
        raise PrivarmsError(
            f"{where}.tolerance.published_replicates: a measure with `{without[0]}` has no spread of single runs. "
            "Expected a measure with a standard error; use `absolute` or `factor`"
        )
    if kind not in ("fraction", "distance"):
        _check_error(f"{where}.measure", str(given[kind]), given)
        if "ratio" in (other := given.get("to", {})):
            if "se" in given and "se" not in other:
                raise PrivarmsError(
                    f"{where}.measure.to.se: missing, and `se` is the error of {given[kind]}. "
                    f"Expected a column or formula; add the standard error of {other['ratio']}"
                )
            _check_error(f"{where}.measure.to", str(other["ratio"]), {**given, **other})


def _check_error(where: str, number: str, given: Mapping) -> None:
    """Raise PrivarmsError for a formula without an error: no column has the name of its standard error."""
    if not number.isidentifier() and not any(key in given for key in ERRORS):
        raise PrivarmsError(
            f"{where}.se: missing. {number!r} is a formula, so its standard error is in no column. Expected a column "
            "or formula; add `se`, `interval`, or `exact: true` for a number without error"
        )
