"""Check that a policy fits its protocol, by the signatures of its functions, before anything runs."""

import inspect
from types import ModuleType

from privarms.errors import PrivarmsError, check_known
from privarms.registry import extensions, library


def check(at: str, policy: str, protocol: str, environment: str) -> None:
    """Check by signatures that a protocol can run a policy in an environment; raise PrivarmsError with file and line.

    at: the file and the key of the study's entry. A policy of another family fits if its module names the family in
    ALSO_FITS and its functions have the expected number of arguments. A protocol with FAMILY = None runs audits. An
    audit accepts its named subjects, or any policy of its families.
    """
    wanted, own = library.attributes("protocols", protocol).get("FAMILY", protocol), library.family(policy)
    if wanted is None:
        check_known(at, "audit", environment, library.audits())
        subjects = library.audits()[environment]
        families = library.audited_families(environment)
        if policy not in subjects and own not in families:
            expected = ", ".join(subjects) or f"policies of {', '.join(families)}"
            raise PrivarmsError(f"{at}: {environment} audits {expected}; found the policy {policy}")
        wanted = own
    module = library.load("policies", policy)
    if wanted not in (own, *getattr(module, "ALSO_FITS", ())):
        raise PrivarmsError(
            f"{at}: {library.policy_file(policy)} is of the family {own}, but the protocol {protocol} runs the family "
            f"{wanted}; expected a policy of policies/{wanted}/, or one that has {wanted!r} in ALSO_FITS"
        )
    needed = {"configure": "a function configure", "LABEL": "LABEL, the policy's name for legends"}
    faults = [
        f"{library.policy_file(policy)}: expected {what}" for name, what in needed.items() if not hasattr(module, name)
    ]
    if wanted != library.MECHANISMS:
        family = library.family_module(wanted)
        faults += [fault(module, name, arguments) for name, arguments in family["CONTRACT"].items()]
        if fast_path := library.fast_path(policy, environment):
            faults.append(fault(library.load_module(fast_path), "simulate", family["FAST_PATH"]))
    for one in filter(None, faults):
        raise PrivarmsError(f"{at}: {one} (the family {wanted}: see policies/{wanted}/__init__.py)")


def fault(module: ModuleType, name: str, expected: tuple) -> str | None:
    """Return a message if a function of a module does not have the `expected` arguments; None if it has."""
    value, wanted = getattr(module, name, None), f"{name}({', '.join(expected)})"
    if not callable(value):
        file = extensions.shown(inspect.getfile(module))
        return f"{file}: expected the function {wanted}; found no function of this name"
    if inspect.ismethod(value):
        found = "a method of an object; give the class, whose functions have no `self`"
        return f"{extensions.line(value)}: expected {wanted}; found {found}"
    takes = tuple(library.function_arguments(value))
    if len(takes) == len(expected):
        return None
    return f"{extensions.line(value)}: expected {wanted}; found {name}({', '.join(takes)})"
