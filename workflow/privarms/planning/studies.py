"""A paper's studies.yaml as typed models, with the values of one scale; config/README.md explains the keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from privarms.files import model
from privarms.files.model import Different, Flag, Listed, Model, Name, Plain, Positive, Text, Value, Whole
from privarms.registry.artifacts import Artifact, InferenceTable

# The protocol of a study with the key `audit`.
AUDIT = "audit"
SEVERAL_NUMBERS = "^[0-9.]+( [0-9.]+)+$"


def listed(value: Any) -> list:
    """Return a list unchanged, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]


def _budget(value: Any) -> Any:
    if isinstance(value, str):
        return BUDGETS.validate_python(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise model.expected("a number above 0")
    return value


BUDGETS = TypeAdapter(
    Annotated[str, *model.matching(SEVERAL_NUMBERS, "a number above 0, or several numbers separated by blanks")]
)
NUMBERS = [{"exclusiveMinimum": 0, "type": "number"}, {"pattern": SEVERAL_NUMBERS, "type": "string"}]
AsWritten = Annotated[Listed[Value], WrapValidator(model.as_written)]
Arms = Annotated[Whole, Field(ge=2)]
Budget = Annotated[Any, PlainValidator(_budget), WithJsonSchema({"anyOf": NUMBERS})]
Count = Annotated[Whole, Field(ge=1, le=10**15)]
Names = Different[Name]


class Parameters(Model):
    """Keys that a policy or an environment defines, in their order, in addition to those of the model.

    TYPES: the types of some of them; EPSILON: of those that begin with epsilon; OTHERS: of all others
    """

    model_config = ConfigDict(extra="allow")
    TYPES: ClassVar[Mapping[str, TypeAdapter]] = {}
    EPSILON: ClassVar[TypeAdapter]
    OTHERS: ClassVar[TypeAdapter]
    _place: str = PrivateAttr("")

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the keys that are not of the model, with their values as written."""
        return self.__pydantic_extra__ or {}

    @property
    def place(self) -> str:
        """Return the file and the key or line, if it is not in the study; "" if it is."""
        return self._place

    def at(self, place: str) -> Self:
        """Set the place and return self."""
        self._place = place
        return self

    @classmethod
    def _type(cls, key: str) -> TypeAdapter:
        return cls.TYPES.get(key, cls.EPSILON if key.startswith("epsilon") else cls.OTHERS)

    @model_validator(mode="after")
    def _check_parameters(self) -> Self:
        for key, value in self.parameters.items():
            try:
                self._type(key).validate_python(value)
            except ValidationError as error:
                raise ValidationError.from_exception_data(
                    "parameter", [_below(key, e) for e in error.errors()]
                ) from None
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema, handler):
        schema = handler.resolve_ref_schema(handler(core_schema))
        own = {key: adapter.json_schema() for key, adapter in cls.TYPES.items()}
        schema["properties"] = {**schema.get("properties", {}), **own}
        schema["patternProperties"] = {"^epsilon": cls.EPSILON.json_schema()}
        return schema | {"additionalProperties": cls.OTHERS.json_schema()}


def _below(key: str, fault: Any) -> InitErrorDetails:
    kind, context = fault["type"], fault.get("ctx", {})
    kind = PydanticCustomError(kind, "{what}", context) if kind == "expected" else kind
    return InitErrorDetails(type=kind, loc=(key, *fault["loc"]), input=fault["input"], ctx=context)


class Axes(Parameters):
    """One grid: the values of each axis, as written, and the names of its panels and tags."""

    TYPES: ClassVar = {
        "panel": TypeAdapter(AsWritten[Name]),
        "tag": TypeAdapter(AsWritten[Name]),
        "K": TypeAdapter(AsWritten[Arms]),
        "horizon": TypeAdapter(AsWritten[Count]),
    }
    EPSILON = TypeAdapter(AsWritten[Budget])
    OTHERS = TypeAdapter(AsWritten[Plain])


class GridTable(Model):
    """A grid in a CSV file; `grids.filled` replaces it by the rows of the file."""

    table: Annotated[str, *model.matching(r"\.csv$", "the name of a CSV file")]
    only: Annotated[list[str], Field(min_length=1)] | None = None


class _OrTable:
    """For the JSON Schema of a grid."""

    def __get_pydantic_json_schema__(self, core_schema, handler):
        one_or_more = handler(core_schema)
        return {"anyOf": [*one_or_more["oneOf"], handler(GridTable.__pydantic_core_schema__)]}


Grid = Annotated[Listed[Axes], _OrTable()]


class Checkpoints(Model):
    """The recorded rounds."""

    count: Annotated[Whole, Field(ge=2, le=1_000_000)]
    first: Count
    quarters: Flag = False

    @cached_property
    def rule(self) -> dict[str, int]:
        """Return the keys that are given, for `Cell.checkpoint_rule`."""
        return self.model_dump(exclude_unset=True)


class Environment(Parameters):
    """An environment, or an audit, and its parameters."""

    TYPES: ClassVar = {"K": TypeAdapter(Arms), "horizon": TypeAdapter(Count)}
    EPSILON = OTHERS = TypeAdapter(Plain)
    name: Name


class Entry(Parameters):
    """A policy in a study: its parameters, a list being an axis, and what it has instead of the study."""

    TYPES: ClassVar = {"K": TypeAdapter(AsWritten[Arms])}
    EPSILON = TypeAdapter(AsWritten[Budget])
    OTHERS = TypeAdapter(AsWritten[Plain])
    # Not a Name, because an object given to `privarms.simulate` may have any name. `checks` finds unknown names.
    policy: Text
    tag: Listed[Name] | None = None
    grid: Grid | None = None
    horizon: Count | None = None
    replicates: Count | None = None
    block: Count | None = None
    checkpoints: Checkpoints | None = None
    record: str | None = None
    seconds_per_step: Positive | None = None


def _not_audit(protocol: str) -> str:
    if protocol == AUDIT:
        raise model.expected("the key `audit: NAME` instead of this protocol")
    return protocol


def _named(audit: Any) -> Any:
    return {"name": audit} if isinstance(audit, str) else audit


class Study(Model):
    """One simulation experiment; an audit is its environment and has a protocol of its own."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["audit"]}, {"required": ["protocol", "environment"]}]}
    )
    audit: Annotated[Environment, BeforeValidator(_named, json_schema_input_type=Name | Environment)] | None = None
    protocol: Annotated[Name, AfterValidator(_not_audit)] = AUDIT
    # `_complete` replaces this default.
    environment: Environment = Field(cast(Environment, None), validate_default=False)
    grid: Grid = Field(default_factory=list)
    horizon: Count | None = None
    replicates: Count
    block: Count
    checkpoints: Checkpoints | None = None
    record: str | None = None
    seconds_per_step: Positive | None = None
    policies: Annotated[list[Entry], Field(min_length=1)]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for key in ("protocol", "environment"):
            if self.audit is not None and key in self.model_fields_set:
                raise model.key_fault(key, "expected no such key in the study of an audit; remove it")
            if self.audit is None and key not in self.model_fields_set:
                raise model.fault(f"the key {key!r} is missing; add it")
        if self.audit is not None:
            self.environment = self.audit
        return self

    def entries(self, where: str) -> list[tuple[str, Entry]]:
        """Return the policies, each with the file and the key of its entry; where: those of the study."""
        return [(entry.place or f"{where}.policies[{i}]", entry) for i, entry in enumerate(self.policies)]

    @property
    def environment_key(self) -> str:
        """Return the key of its environment, "environment" or "audit"; the folder of the module has its plural."""
        return "environment" if self.audit is None else "audit"

    def grid_of(self, entry: Entry) -> list[Axes]:
        """Return the grids of one of the policies: its own, or those of the study."""
        return self.grid if entry.grid is None else entry.grid

    @property
    def all_axes(self) -> list[Axes]:
        """Return the axes of all grids, its policies' own included."""
        return [*self.grid, *(axes for entry in self.policies for axes in entry.grid or ())]

    @property
    def datasets(self) -> set[str]:
        """Return the datasets that are named, in the environment or in a grid."""
        named = [self.environment.parameters, *(axes.parameters for axes in self.all_axes)]
        return {name for one in named if "dataset" in one for name in listed(one["dataset"])}


class Assumption(Model):
    """What the paper leaves open."""

    text: Text
    source: Text
    affects: Names = Field(default_factory=list)
    tried: Names = Field(default_factory=list)


def _not_cells(name: str) -> str:
    if name.endswith("_cells"):
        raise model.expected("a name that does not end with _cells")
    return name


class StudiesFile(Model):
    """The content of studies.yaml."""

    title: Text
    authors: Text
    year: Annotated[Whole, Field(ge=1900)] | None = None
    venue: Text
    short: Annotated[Text, Field(max_length=30)] | None = None
    readings: list[Assumption]
    studies: Annotated[dict[Annotated[Name, AfterValidator(_not_cells)], Study], Field(min_length=1)]
    artifacts: Names | None = None


@dataclass(frozen=True)
class Paper:
    """A paper in a run.

    studies: with added policies, and with automatic audits; artifacts, inference: name -> what it shows or reads
    shrunk: the studies whose settings at this scale are not those of scale paper
    """

    name: str
    about: StudiesFile
    studies: Mapping[str, Study]
    shrunk: tuple[str, ...] = ()
    artifacts: Mapping[str, Artifact] = field(default_factory=dict)
    inference: Mapping[str, InferenceTable] = field(default_factory=dict)
