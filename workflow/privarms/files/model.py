"""Typed models of YAML files: their base, the types that they share, and messages of one line for their faults."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainValidator,
    Strict,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from privarms.errors import PrivarmsError

Value = TypeVar("Value")
M = TypeVar("M", bound=BaseModel)


class Model(BaseModel):
    """The base of all models: an unknown key is a fault, and so is a key without a value unless NULLABLE has it."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    NULLABLE: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, content: Any) -> Any:
        if not isinstance(content, Mapping):
            return content
        known = {field.alias or name for name, field in cls.model_fields.items()}
        for key, value in content.items():
            if key not in known and cls.model_config.get("extra") == "forbid":
                reason = f"unknown key; expected one of {', '.join(sorted(known))}"
                raise key_fault(key, reason)
            if value is None and key not in cls.NULLABLE:
                raise key_fault(key, "expected a value; found none")
        return content


class OneOrMore:
    """For a list type: a value that is no list is a list of one."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        several = cast(core_schema.ListSchema, handler(source))
        one = core_schema.no_info_after_validator_function(
            lambda value: [value], several.get("items_schema", core_schema.any_schema())
        )
        # Messages leave out the names in <>.
        return core_schema.tagged_union_schema(
            {"<list>": several, "<one>": one}, lambda value: "<list>" if isinstance(value, list) else "<one>"
        )


def expected(what: str) -> PydanticCustomError:
    """Return the fault of a value that is not `what`; the message adds the value."""
    return PydanticCustomError("expected", "expected {what}", {"what": what})


def fault(reason: str) -> PydanticCustomError:
    """Return the fault of a value; reason: what is expected and found."""
    return PydanticCustomError("fault", "{reason}", {"reason": reason})


def key_fault(key: str, reason: str) -> PydanticCustomError:
    """Return the fault of a key of a mapping."""
    return PydanticCustomError("key", "{reason}", {"key": key, "reason": reason})


def matching(pattern: str, what: str) -> tuple[AfterValidator, WithJsonSchema]:
    """Return the annotations of a text that must have a pattern; what: the pattern in words."""

    def check(text: str) -> str:
        if re.search(pattern, text) is None:
            raise expected(what)
        return text

    return AfterValidator(check), WithJsonSchema({"type": "string", "pattern": pattern})


def _different(values: list) -> list:
    for value in values:
        if values.count(value) > 1:
            raise fault(f"{value!r} occurs twice; expected it once")
    return values


def as_written(value: Any, handler: Callable[[Any], Any]) -> Any:
    """Check a value with the validators of its type, and return it unchanged."""
    handler(value)
    return value


def _plain(value: Any) -> Any:
    if not isinstance(value, bool | int | float | str):
        raise expected("a number, a text, true or false")
    return value


def _printed(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise expected("a number or a text")
    return value


Text = Annotated[str, Field(min_length=1)]
Plain = Annotated[Any, PlainValidator(_plain), WithJsonSchema({"type": ["number", "string", "boolean"]})]
Printed = Annotated[Any, PlainValidator(_printed), WithJsonSchema({"type": ["number", "string"]})]
Name = Annotated[str, *matching("^[a-z][a-z0-9_]*$", "a name of lower-case letters, digits and _")]
Whole = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
# An int stays an int.
Number = Annotated[float, Strict(), WrapValidator(as_written)]
Positive = Annotated[float, Strict(), Field(gt=0), WrapValidator(as_written)]
Different = Annotated[list[Value], AfterValidator(_different)]
Listed = Annotated[list[Value], Field(min_length=1), OneOrMore()]


def checked(model: type[M], content: Any, file: Path | str) -> M:
    """Return the content of a file, or of a part of it, as a model.

    Raises PrivarmsError for the first fault, with the file and the key. No number may be infinite or nan.
    """
    for key, number in _not_finite(content):
        raise PrivarmsError(f"{file}: {key}: expected a finite number; found {number}")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise PrivarmsError(f"{file}: {_explain(error.errors(include_url=False)[0])}") from None


def _not_finite(value: Any, key: str = "") -> Iterator[tuple[str, float]]:
    """Yield the keys and the values of all numbers that are not finite."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _not_finite(one, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from _not_finite(one, f"{key}[{i}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield key, value


EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "a mapping of keys to values",
    "float_type": "a number",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "at least {ge}",
    "int_type": "an integer",
    "less_than_equal": "at most {le}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_attributes_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "a text",
    "string_type": "a text",
    "too_long": "at most {max_length} entries",
    "too_short": "at least one entry",
}


def _explain(fault: Mapping[str, Any]) -> str:
    context, kind = fault.get("ctx", {}), fault["type"]
    path = ""
    for part in (*fault["loc"], context["key"]) if kind == "key" else fault["loc"]:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part != "[key]" and not part.startswith("<"):
            path += f".{part}"
    if kind == "missing":
        *above, key = path.rpartition(".")
        place = above[0].removeprefix(".")
        return f"{place}{': ' if place else ''}the key {key!r} is missing; add it"
    path = path.removeprefix(".") or "the file"
    if kind in ("key", "fault"):
        return f"{path}: {context['reason']}"
    what = context["what"] if kind == "expected" else EXPECTED[kind].format_map(context)
    return f"{path}: expected {what}; found {fault['input']!r}"
