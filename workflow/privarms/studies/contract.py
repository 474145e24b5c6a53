"""Whether a policy can be run by a protocol, judged from source text: before anything runs."""

import ast

from privarms.errors import PrivarmsError
from privarms.studies import library, source_faults


def check(at: str, policy: str, protocol: str, environment: str) -> None:
    """PrivarmsError naming both where the functions of a policy do not fit the family that a protocol runs.

    at: the file and the key of the study's entry. A policy of another family fits if it says so in ALSO_FITS and its
    functions have as many arguments. A protocol without a FAMILY is for audits: these name the SUBJECT that they are
    about, a policy or mechanism or several, or the FAMILIES that they fit any policy of.
    """
    literals = library.literals("protocols", protocol)
    if "FAMILY" not in literals:
        raise PrivarmsError(
            f"{at}: the protocol {protocol} says of no family that it runs it; expected the literal FAMILY in "
            f"protocols/{protocol}.py"
        )
    wanted, own = literals["FAMILY"], library.family(policy)
    is_audit = environment in library.audits()
    if (wanted is None) != is_audit:
        expected = "one of audits/" if wanted is None else "no audit"
        raise PrivarmsError(f"{at}: the protocol {protocol} does not run {environment}; expected {expected}")
    if wanted is None:
        subjects, families = (
            library.audits()[environment],
            library.literals("environments", environment).get("FAMILIES", ()),
        )
        if policy not in subjects and own not in families:
            said = ", ".join(subjects) or f"policies of {', '.join(families)}"
            raise PrivarmsError(f"{at}: {environment} audits {said}; found the policy {policy}")
        wanted = own
    also = library.literals("policies", policy).get("ALSO_FITS", ())
    if wanted not in (own, *also):
        raise PrivarmsError(
            f"{at}: {library.policy_file(policy)} is of the family {own}, and the protocol {protocol} runs the family "
            f"{wanted}; expected a policy of policies/{wanted}/, or one that has {wanted!r} in ALSO_FITS"
        )
    for name, expected in () if wanted == library.MECHANISMS else library.contract(wanted).items():
        fault = _fault(policy, name, expected, by_name=wanted == own)
        if fault:
            raise PrivarmsError(
                f"{at}: {source_faults.line(library.source_file('policies', policy), name)} does not fit the protocol "
                f"{protocol}, which runs the family {wanted}: {fault}; see policies/{wanted}/__init__.py"
            )
    if library.definition(library.source_file("policies", policy), "configure")[1] is None:
        raise PrivarmsError(f"{at}: {library.policy_file(policy)}: expected a function configure(...); found none")
    for room, name in (("policies", policy), ("environments", environment)):
        source_faults.check(room, name)


def _fault(policy: str, name: str, expected: tuple | str, by_name: bool) -> str | None:
    """What is wrong with one name of a policy, if anything; by_name: whether arguments have the contract's names."""
    file = library.source_file("policies", policy)
    _, node = library.definition(file, name)
    if isinstance(expected, str):
        found = ast.unparse(node) if node is not None else None
        return None if found == expected else f"expected {name} = {expected}; found {found or 'nothing of this name'}"
    wanted = f"{name}({', '.join(expected)})"
    if node is None:
        return f"expected the function {wanted}; found none of this name"
    found = tuple(library.function_arguments(file, name))
    if found == expected or (not by_name and len(found) == len(expected)):
        return None
    return f"expected {wanted}; found {name}({', '.join(found)})"
