"""YAML files: read with care, and held against a JSON schema."""

import json
import math
import re
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from privarms.errors import PrivarmsError
from privarms.files.remembered import recall, remember

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
# A file of a few lines may stand for any number of values, by aliases of aliases.
MOST_VALUES = 1_000_000
MOST_LEVELS = 64
# YAML 1.2 and JSON: an exponent needs neither a sign nor a point before it.
NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def read(file: Path) -> dict:
    """One YAML file in UTF-8 as a mapping of what JSON can say; PrivarmsError names the file and what is wrong there,
    a line or a key."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PrivarmsError(f"{file}: no such file; expected a YAML file there") from None
    except OSError as error:
        raise PrivarmsError(f"{file}: cannot be read: {error.strerror}; expected a YAML file there") from None
    except UnicodeDecodeError as error:
        raise PrivarmsError(f"{file}: not UTF-8 text (its byte {error.start + 1}); save it as UTF-8") from None
    try:
        _refuse_what_no_stack_holds(text, file)
        content = yaml.load(text, Loader=_UniqueKeys)
    except yaml.YAMLError as error:
        raise PrivarmsError(f"{file}: not valid YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise PrivarmsError(f"{file}: {_too_deep('the file')}") from None
    except ValueError as error:
        # A date that there is not, a number of thousands of digits.
        raise PrivarmsError(f"{file}: not valid YAML: {error}; put it in quotes if it is a text") from None
    if not isinstance(content, dict):
        raise PrivarmsError(f"{file}: expected a mapping of keys to values")
    refuse_what_json_cannot_say(content, file)
    return content


def _refuse_what_no_stack_holds(text: str, file: Path | str) -> None:
    """The parser in C, several times faster than the one in Python, crashes where levels go very deep."""
    level = 0
    for event in yaml.parse(text, Loader=_UniqueKeys):
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if level > 10 * MOST_LEVELS:
            raise PrivarmsError(f"{file}: {_too_deep('the file')}")


def _too_deep(key: str) -> str:
    return f"{key}: more than {MOST_LEVELS} levels deep, or an alias that holds itself; expected fewer levels"


def refuse_what_json_cannot_say(content: Mapping, file: Path | str) -> None:
    """Only texts as keys and only finite numbers, so that a schema and a digest can be made of it; PrivarmsError for
    anything else, and for more than MOST_VALUES values or MOST_LEVELS levels where aliases are spelled out."""
    # Of every mapping and list, once: how many values and how many levels it holds; None while that is found out.
    known: dict[int, tuple[int, int] | None] = {}

    def measure(value, key: str, depth: int) -> tuple[int, int]:
        if isinstance(value, float) and not math.isfinite(value):
            raise PrivarmsError(f"{file}: {key}: expected a finite number; found {value}")
        if value is None or isinstance(value, str | int | float):
            return 1, 0
        if not isinstance(value, Mapping | list):
            kind = type(value).__name__
            raise PrivarmsError(f"{file}: {key}: expected a text or a number; found a {kind}; put it in quotes")
        if id(value) in known:
            if known[id(value)] is None:
                raise PrivarmsError(f"{file}: {_too_deep(key)}")
            return known[id(value)]
        if depth > MOST_LEVELS:
            raise PrivarmsError(f"{file}: {_too_deep(key.split('.')[0].split('[')[0])}")
        known[id(value)] = None
        found = [measure(inner, name, depth + 1) for name, inner in _entries(value, key, file)]
        values, levels = 1 + sum(v for v, _ in found), 1 + max((n for _, n in found), default=0)
        if levels > MOST_LEVELS:
            raise PrivarmsError(f"{file}: {_too_deep(key)}")
        if values > MOST_VALUES:
            raise PrivarmsError(
                f"{file}: {key}: {values:,} values once its aliases are spelled out; expected at most {MOST_VALUES:,}: "
                "use fewer aliases"
            )
        known[id(value)] = values, levels
        return values, levels

    measure(content, "", 0)


def _entries(value: Mapping | list, key: str, file: Path | str) -> Iterable[tuple[str, object]]:
    """The entries of a mapping or a list, each with its full name."""
    if isinstance(value, list):
        return [(f"{key}[{i}]", inner) for i, inner in enumerate(value)]
    prefix = f"{key}." if key else ""
    for name in value:
        if not isinstance(name, str):
            raise PrivarmsError(f"{file}: {prefix}{name!r}: expected a text as key; put it in quotes")
    return [(f"{prefix}{name}", inner) for name, inner in value.items()]


class _UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """PyYAML keeps the last of two equal keys in silence; a cell lost that way would never be missed."""

    def __init__(self, stream):
        super().__init__(stream)
        self._checked, self._open = set(), set()

    def flatten_mapping(self, node):
        # Once, and before `<<` brings in what the mapping's own keys then override.
        if id(node) in self._open:
            fault = "a merge of a mapping into itself"
            raise yaml.constructor.ConstructorError(None, None, fault, node.start_mark)
        if id(node) in self._checked:
            return
        self._checked.add(id(node))
        seen = set()
        for key_node, _ in node.value:
            key = "<<" if key_node.tag.endswith(":merge") else self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                fault = "expected a text as key, not a list or a mapping"
                raise yaml.constructor.ConstructorError(None, None, fault, key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key!r}", key_node.start_mark)
            seen.add(key)
        self._open.add(id(node))
        super().flatten_mapping(node)
        self._open.remove(id(node))
        # What is overridden goes at once: merges of merges would multiply it.
        node.value = list({(key.tag, str(key.value)): (key, value) for key, value in node.value}.values())


_UniqueKeys.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(f"{NUMBER.pattern}$"), list("-+.0123456789"))


def _validator(rules: Mapping) -> "Validator":
    """What finds faults by these rules. jsonschema is imported here, for few processes meet what has not passed yet."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # In JSON Schema 4.0 is an integer; what runs with it wants an int.
    integers = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    return extend(Draft202012Validator, type_checker=integers)(rules)


def validate(content: Mapping, schema: str, file: Path | str, texts: bool = False, part: str | None = None) -> None:
    """Hold content against workflow/schemas/<schema>.schema.json; the first fault becomes a PrivarmsError.

    Whole floats become ints, in place, where an integer is meant. texts: so do texts that are numbers, which is what
    another reader than ours makes of 1e5; part: a definition of the schema, against which to hold it
    """
    rules = json.loads((SCHEMAS / f"{schema}.schema.json").read_text(encoding="utf-8"))
    if part is not None:
        rules = {"$ref": f"#/$defs/{part}", "$defs": rules["$defs"]}
    question = _question(content, rules)
    if question is not None and recall(question) is not None:
        return
    faults = list(_validator(rules).iter_errors(content))
    if not faults and question is not None:
        remember(question, "no fault")
    for fault in faults:
        if fault.validator == "type" and fault.validator_value in ("integer", "number"):
            value = fault.instance
            if texts and isinstance(value, str) and NUMBER.fullmatch(value):
                value = float(value)
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            _put(content, list(fault.absolute_path), value)
    if faults:
        from jsonschema.exceptions import best_match

        if (fault := best_match(_validator(rules).iter_errors(content))) is not None:
            raise PrivarmsError(f"{file}: {_explain(fault)}")


def _question(content: Mapping, rules: Mapping) -> str | None:
    """Whether these very rules find a fault in this very content: to hold a long file against its schema takes longer
    than to plan what it asks for. None where it cannot be said."""
    try:
        return _judge() + json.dumps([content, rules], sort_keys=True)
    except (TypeError, ValueError):
        return None


@cache
def _judge() -> str:
    return version("jsonschema") + Path(__file__).read_text(encoding="utf-8")


def _put(content: Mapping, path: list, value) -> None:
    for step in path[:-1]:
        content = content[step]
    content[path[-1]] = value


def _explain(fault: "ValidationError") -> str:
    key = fault.json_path.removeprefix("$").removeprefix(".") or "the file"
    found = fault.instance
    if fault.validator == "additionalProperties" and isinstance(found, Mapping):
        allowed = sorted(fault.schema.get("properties", {}))
        unknown = [k for k in found if k not in allowed]
        prefix = "" if key == "the file" else f"{key}."
        return f"{prefix}{unknown[0]}: unknown key; expected one of {', '.join(allowed)}"
    if fault.validator == "dependentRequired":
        return f"{key}: {fault.message}; add it"
    if fault.validator == "required":
        missing = [k for k in fault.validator_value if k not in found]
        return f"{key}: the key {missing[0]!r} is missing; add it"
    if isinstance(fault.schema, Mapping) and "description" in fault.schema:
        return f"{key}: expected {fault.schema['description']}; found {found!r}"
    expected = {
        "exclusiveMinimum": lambda v: f"a number above {v}",
        "minimum": lambda v: f"a number of at least {v}",
        "maximum": lambda v: f"a number of at most {v:,}",
        "type": lambda v: f"a value of type {' or '.join([v] if isinstance(v, str) else v)}",
        "enum": lambda v: f"one of {', '.join(map(str, v))}",
        "pattern": lambda v: f"a text that matches {v}",
    }.get(fault.validator)
    if expected is None:
        return f"{key}: {fault.message}"
    return f"{key}: expected {expected(fault.validator_value)}; found {found!r}"
