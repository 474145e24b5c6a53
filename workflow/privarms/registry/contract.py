"""Check that a policy fits its protocol, by what its module has, before anything runs."""

import inspect
from types import ModuleType

from privarms.errors import PrivarmsError, check_known
from privarms.registry import extensions, library, modules, privacy
from privarms.registry.arguments import arguments_of
from privarms.registry.modules import EnvironmentModule, FamilyModule, PolicyModule, ProtocolModule


def check(at: str, policy: PolicyModule, protocol: ProtocolModule, environment: EnvironmentModule) -> None:
    """Check that a protocol can run a policy in an environment or audit; raise PrivarmsError with file and line.

    at: the file and the key of the study's entry. A policy fits if it is of the protocol's family, or names it in
    ALSO_FITS, and its functions have the expected number of arguments. A protocol with FAMILY = None runs audits, and
    an audit accepts its named subjects, or any policy of its families. A parameter `epsilon` must be a privacy budget,
    and PRIVACY a known word.
    """
    wanted, own = protocol.family, policy.family
    if wanted is None:
        check_known(at, "audit", environment.name, modules.audits())
        subjects, families = modules.audits()[environment.name], environment.audited_families
        if policy.name not in subjects and own not in families:
            expected = ", ".join(subjects) or f"policies of {', '.join(families)}"
            raise PrivarmsError(f"{at}: {environment.name} audits {expected}; found the policy {policy.name}")
        wanted = own
    module = policy.module
    if wanted not in (own, *policy.also_fits):
        raise PrivarmsError(
            f"{at}: {policy.shown} is of the family {own}, but the protocol {protocol.name} runs the family "
            f"{wanted}; expected a policy of policies/{wanted}/, or one that has {wanted!r} in ALSO_FITS"
        )
    needed = {"configure": "a function configure", "LABEL": "LABEL, the policy's name for legends"}
    faults = [f"{policy.shown}: expected {what}" for name, what in needed.items() if not hasattr(module, name)]
    if wanted != library.MECHANISMS:
        family = FamilyModule(wanted)
        functions = [(module, *one) for one in family.contract.items()]
        if fast_path := policy.fast_path(environment.name):
            functions.append((library.load_module(fast_path), "simulate", family.fast_path_arguments))
        faults += [fault(*one) for one in functions]
    for one in filter(None, faults):
        raise PrivarmsError(f"{at}: {one} (the family {wanted}: see policies/{wanted}/__init__.py)")
    if policy.claims_epsilon:
        privacy.privacy(policy.name)
    # Figures and tables treat an epsilon as a privacy budget. An object is in no figure with the published policies.
    undeclared = "epsilon" in policy.arguments and policy.private is None
    if undeclared and not policy.is_given and not policy.uses_a_mechanism:
        raise PrivarmsError(
            f"{at}: {policy.shown}: the parameter 'epsilon' means a privacy budget, but the module uses "
            "no mechanism of privarms.mechanisms; rename it (such as exploration), or set PRIVATE = True if it is one"
        )


def fault(module: ModuleType, name: str, expected: tuple) -> str | None:
    """Return a message if a function of a module does not have the `expected` arguments; None if it has."""
    value, wanted = getattr(module, name, None), f"{name}({', '.join(expected)})"
    if not callable(value):
        file = extensions.shown(inspect.getfile(module))
        return f"{file}: expected the function {wanted}; found no function of this name"
    if inspect.ismethod(value):
        found = "a method of an object; give the class, whose functions have no `self`"
        return f"{extensions.line(value)}: expected {wanted}; found {found}"
    takes = tuple(arguments_of(value))
    if len(takes) == len(expected):
        return None
    return f"{extensions.line(value)}: expected {wanted}; found {name}({', '.join(takes)})"
