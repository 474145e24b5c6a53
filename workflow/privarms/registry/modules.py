"""Policies, environments, audits and protocols as objects, with what their modules declare and the defaults.

An object is made from a name. It imports the module only when it needs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any, ClassVar

from privarms.errors import PrivarmsError, check_known
from privarms.registry import extensions, library
from privarms.registry.arguments import Argument, arguments_of
from privarms.registry.imported import remembered
from privarms.registry.source_files import dotted_name, sources

COSTS = ("SECONDS_PER_STEP", "SECONDS_PER_RUN")
# What a type is, in messages.
KINDS = {bool: "True or False", str: "a text", tuple: 'a tuple of texts, such as ("one",)', dict: "a dictionary"}


@dataclass(frozen=True)
class Module:
    """A module by its name."""

    name: str
    room: ClassVar[str]

    @property
    def file(self) -> Path:
        """Return its file. Raises KeyError for an unknown name."""
        return library.source_file(self.room, self.name)

    @property
    def shown(self) -> str:
        """Return its file as messages name it."""
        return extensions.shown(self.file)

    @property
    def dotted(self) -> str:
        """Return its dotted name below the package: "policies.bandit.dp_se"."""
        return dotted_name(self.file)

    @property
    def in_extension(self) -> bool:
        """Return whether its file lies in an extension."""
        return extensions.is_extension(self.file)

    @property
    def module(self) -> ModuleType:
        """Import it. Raises PrivarmsError with file and line for an error in an extension's module."""
        return library.load(self.room, self.name)

    @property
    def arguments(self) -> dict[str, Argument]:
        """Return its parameters, the arguments of its `configure`, in order; none if it has no such function."""
        configure = self.declared("configure")
        return arguments_of(configure) if configure else {}

    @property
    def streamed_as(self) -> Mapping[str, str]:
        """Return the names under which it or its parameters are hashed into streams, if they were renamed."""
        return self.declared("STREAMED_AS", {}, dict)

    @property
    def costs(self) -> dict[str, float]:
        """Return those of COSTS that it declares, in seconds."""
        own = vars(self.module)
        return {key: own[key] for key in COSTS if key in own}

    def declared(self, name: str, default: Any = None, kind: type | tuple[type, ...] = object) -> Any:
        """Return the value of a global name of the module, or the default; kind: its type or types.

        Raises PrivarmsError for a value of another type.
        """
        value = vars(self.module).get(name, default)
        if not isinstance(value, kind):
            kinds = kind if isinstance(kind, tuple) else (kind,)
            expected = " or ".join(KINDS.get(one, one.__name__) for one in kinds if one is not NoneType)
            raise PrivarmsError(f"{self.shown}: {name}: expected {expected}; found {value!r}")
        return value


class PolicyModule(Module):
    """A policy, or a mechanism, which has the place of a policy in an audit."""

    room = "policies"

    @property
    def label(self) -> str:
        """Return the name that readers see."""
        return self.declared("LABEL", self.name, str)

    @property
    def family(self) -> str:
        """Return the package that contains it. Raises PrivarmsError for a policy outside of any package."""
        if self.is_given:
            return self.module.FAMILY
        package = self.file.parent.name
        check_known(f"{self.shown}: the folder", "family", package, (*library.families(), library.MECHANISMS))
        return package

    @property
    def claims_epsilon(self) -> bool:
        """Return whether it has a privacy budget: the parameter `epsilon`, unless it declares PRIVATE = False."""
        return "epsilon" in self.arguments and self.private is not False

    @property
    def private(self) -> bool | None:
        """Return its PRIVATE; None if it does not declare it."""
        return self.declared("PRIVATE", None, (bool, NoneType))

    @property
    def also_fits(self) -> tuple[str, ...]:
        """Return the other families whose protocols can run it. Raises PrivarmsError for an unknown one."""
        others = self.declared("ALSO_FITS", (), tuple)
        for family in others:
            check_known(f"{self.shown}: ALSO_FITS", "family", family, library.families())
        return others

    @property
    def uses_a_mechanism(self) -> bool:
        """Return whether it uses a module of `mechanisms`, directly or not."""
        return any(Path(file).parent.name == library.MECHANISMS for file in sources(self.dotted))

    @property
    def is_given(self) -> bool:
        """Return whether it is an object that `library.given` provides."""
        return library.is_given(self.name)

    @property
    def audits(self) -> list[str]:
        """Return the audits that name it as a subject."""
        return [audit for audit, subjects in audits().items() if self.name in subjects]

    @property
    def has_library_audit(self) -> bool:
        """Return whether it is of the library and the subject of an audit."""
        return not self.in_extension and bool(self.audits)

    @property
    def words(self) -> Mapping[str, str]:
        """Return the words that readers see instead of some values of its parameters."""
        return self.declared("WORDS", {}, dict)

    @property
    def deviations(self) -> Mapping[str, tuple]:
        """Return the deviations of a program from its paper: name -> its values as printed and as released."""
        return self.declared("DEVIATIONS", {}, dict)

    def fast_path(self, environment: str) -> str | None:
        """Return the dotted name of its fast path in an environment; None if there is none."""
        if self.is_given:
            return None
        file, name = self.file, self.declared("FAST_PATHS_OF", self.name)
        folder = file.parents[2] / "fast_paths" / file.parent.name
        files = (folder / f"{name}__{environment}.py", folder / f"{name}.py")
        return next((dotted_name(path) for path in files if path.is_file()), None)


class EnvironmentModule(Module):
    """An environment, or an audit, which has the place of an environment in its study."""

    room = "environments"

    @property
    def arguments(self) -> dict[str, Argument]:
        """Return its parameters; one with data takes the name of a dataset instead of the argument `data`."""
        takes = super().arguments
        if not self.needs_dataset:
            return takes
        return {"dataset": Argument(required=True), **{k: v for k, v in takes.items() if k != "data"}}

    @property
    def needs_dataset(self) -> bool:
        """Return whether it is made from a dataset."""
        return self.declared("DATASET", False)

    @property
    def tells(self) -> tuple[str, ...]:
        """Return the parameters of a policy that come from the environment, by its function `tell`."""
        return self.declared("TELLS", (), tuple)

    @property
    def audit(self) -> Any:
        """Return the `audits.audit.Audit` of an audit; None for an environment."""
        return self.declared("AUDIT")

    @property
    def audited_families(self) -> tuple[str, ...]:
        """Return the families of which an audit fits any policy; empty for all other audits and for environments."""
        return self.audit.families if self.audit else ()


class ProtocolModule(Module):
    """A protocol: the loop of a family of policies, and its records."""

    room = "protocols"

    @property
    def family(self) -> str | None:
        """Return the family of policies that it runs; None if it runs audits of any family."""
        return self.declared("FAMILY", self.name)

    @property
    def columns(self) -> Mapping[str | None, tuple[str, ...]]:
        """Return the columns of each record that declares them."""
        return self.declared("COLUMNS", {}, dict)

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the columns that identify a row of a replicate. Raises PrivarmsError without a declaration."""
        keys = self.declared("KEYS", None, (tuple, NoneType))
        if keys is None:
            expected = "expected KEYS, the columns that identify a row of a replicate, such as ('t',)"
            raise PrivarmsError(f"{self.shown}: {expected}, or () for one row per replicate; found none")
        return keys

    @property
    def records(self) -> tuple[str, ...]:
        """Return the names of its records; the first is the default."""
        return self.declared("RECORDS", (), tuple)

    @property
    def row_per_block(self) -> tuple[str, ...]:
        """Return the records that have a row per block instead of rows per replicate."""
        return self.declared("ROW_PER_BLOCK", (), tuple)

    @property
    def needs_horizon(self) -> bool:
        """Return whether its studies must have a horizon."""
        return self.declared("NEEDS_HORIZON", False)

    def record(self, name: str | None) -> str | None:
        """Return the record of a study that names one or none: then the first."""
        return name or next(iter(self.records), None)

    def columns_of(self, record: str | None) -> tuple[str, ...] | None:
        """Return the columns that it declares for the record of a study; None if it declares none."""
        return self.columns.get(self.record(record))


@dataclass(frozen=True)
class FamilyModule:
    """The package of a family of policies, by its name."""

    name: str

    @property
    def contract(self) -> Mapping[str, tuple[str, ...]]:
        """Return the functions that every policy of the family has, with the names of their arguments."""
        return library.load_family(self.name).CONTRACT

    @property
    def fast_path_arguments(self) -> tuple[str, ...]:
        """Return the names of the arguments of `simulate` in each fast path of the family."""
        return library.load_family(self.name).FAST_PATH


@remembered
def audits() -> dict[str, tuple[str, ...]]:
    """Return the audits by name with their subjects, policies or mechanisms; audits of families have none."""
    subjects = {name: library.load(library.AUDITS, name).AUDIT.subjects for name in library.names(library.AUDITS)}
    return {name: (one,) if isinstance(one, str) else one for name, one in subjects.items()}
