"""Whether a policy fits the protocol that runs it: its functions, by their signatures, before anything runs."""

import inspect
from types import ModuleType

from privarms.errors import PrivarmsError
from privarms.studies import extensions, library


def check(at: str, policy: str, protocol: str, environment: str) -> None:
    """Check that a protocol runs a policy in an environment. Raises PrivarmsError with file and line for what does not.

    at: the file and the key of the study's entry. A policy of another family fits if its module names the family in
    ALSO_FITS and its functions take as many arguments. A protocol with FAMILY = None runs audits, which are about the
    policies or mechanisms in SUBJECT or about any policy of FAMILIES.
    """
    wanted, own = library.attributes("protocols", protocol).get("FAMILY", protocol), library.family(policy)
    audits = library.audits()
    if (wanted is None) != (environment in audits):
        expected = "one of audits/" if wanted is None else "no audit"
        raise PrivarmsError(f"{at}: the protocol {protocol} does not run {environment}; expected {expected}")
    if wanted is None:
        families = library.attributes("environments", environment).get("FAMILIES", ())
        if policy not in audits[environment] and own not in families:
            expected = ", ".join(audits[environment]) or f"policies of {', '.join(families)}"
            raise PrivarmsError(f"{at}: {environment} audits {expected}; found the policy {policy}")
        wanted = own
    module = library.load("policies", policy)
    if wanted not in (own, *getattr(module, "ALSO_FITS", ())):
        raise PrivarmsError(
            f"{at}: {library.policy_file(policy)} is of the family {own}, and the protocol {protocol} runs the family "
            f"{wanted}; expected a policy of policies/{wanted}/, or one that has {wanted!r} in ALSO_FITS"
        )
    if wanted != library.MECHANISMS:
        family = library.family_module(wanted)
        faults = [_fault(module, name, arguments, wanted == own) for name, arguments in family["CONTRACT"].items()]
        if fast_path := library.fast_path(policy, environment):
            faults.append(_fault(library.load_module(fast_path), "simulate", family["FAST_PATH"], by_name=True))
        for fault in filter(None, faults):
            raise PrivarmsError(
                f"{at}: {fault} (the protocol {protocol} runs the family {wanted}; see policies/{wanted}/__init__.py)"
            )
    if not hasattr(module, "configure"):
        raise PrivarmsError(f"{at}: {library.policy_file(policy)}: expected a function configure(...); found none")


def _fault(module: ModuleType, name: str, expected: tuple | str, by_name: bool) -> str | None:
    """Return what is wrong with one name of a module; by_name: whether arguments must have the contract's names.

    expected: the arguments of a function, or the text "Policy(init, choose, learn)" of a bundle of functions
    """
    value, file = getattr(module, name, None), extensions.shown(inspect.getfile(module))
    if isinstance(expected, str):
        kind, _, functions = expected.rstrip(")").partition("(")
        bundle = tuple(getattr(module, function, None) for function in functions.split(", "))
        fits = type(value).__name__ == kind and tuple(value) == bundle
        return None if fits else f"{file}: expected {name} = {expected}"
    wanted = f"{name}({', '.join(expected)})"
    if not callable(value):
        return f"{file}: expected the function {wanted}; found none of this name"
    takes = tuple(library.function_arguments(value))
    if takes == expected or (not by_name and len(takes) == len(expected)):
        return None
    return f"{extensions.line(value)}: expected {wanted}; found {name}({', '.join(takes)})"
