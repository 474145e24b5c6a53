"""YAML files: read by PyYAML's safe loader and checked with a JSON schema."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from privarms.errors import PrivarmsError

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
# The process that the user started has validated all files. Its jobs plan from the same ones and skip this second.
VALIDATED_VARIABLE = "PRIVARMS_VALIDATED"
# As in YAML 1.2 and JSON, an exponent needs neither a sign nor a point before it. 1e6 is an integer, for horizons.
WHOLE = re.compile(r"[-+]?[0-9]+[eE]\+?[0-9]{1,2}$")
NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")


def read(file: Path) -> dict:
    """Return the mapping in one UTF-8 YAML file.

    Raises
    ------
    PrivarmsError
        For a file that cannot be read, a syntax fault (with its line), a duplicate key or a key that is not a text.
    """
    try:
        content = yaml.load(Path(file).read_text(encoding="utf-8"), Loader=_Loader)
    except OSError as error:
        raise PrivarmsError(f"{file}: cannot be read: {error.strerror}; expected a YAML file") from None
    except UnicodeDecodeError as error:
        raise PrivarmsError(f"{file}: not UTF-8 text (its byte {error.start + 1}); save it as UTF-8") from None
    except (yaml.YAMLError, ValueError) as error:
        raise PrivarmsError(f"{file}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise PrivarmsError(f"{file}: expected a mapping of keys to values")
    return content


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """PyYAML keeps only the last of two equal keys; a study that is lost that way would never be missed."""

    def construct_document(self, node: yaml.Node):
        nodes, seen = [node], set()
        while nodes:
            one = nodes.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            if isinstance(one, yaml.SequenceNode):
                nodes += one.value
            elif isinstance(one, yaml.MappingNode):
                _check_keys(one)
                nodes += [value for _, value in one.value]
        return super().construct_document(node)


def _check_keys(mapping: yaml.MappingNode) -> None:
    keys = set()
    for key, _ in mapping.value:
        fault = None
        if key.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"):
            fault = f"expected a text as key, found {key.value!r}; put it in quotes"
        elif key.value in keys:
            fault = f"duplicate key {key.value!r}"
        if fault:
            raise yaml.constructor.ConstructorError(None, None, fault, key.start_mark)
        keys.add(key.value)


_Loader.add_implicit_resolver("!whole", WHOLE, list("-+0123456789"))
_Loader.add_constructor("!whole", lambda _, node: int(float(node.value)))
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", NUMBER, list("-+.0123456789"))


def validate(content: Mapping, schema: str, file: Path | str, part: str | None = None) -> None:
    """Check content with workflow/schemas/<schema>.schema.json, or with one `part` of its definitions.

    Raises
    ------
    PrivarmsError
        For the fault that explains most, with the file and the key.
    """
    if os.environ.get(VALIDATED_VARIABLE):
        return
    # A third of a second, which only the process needs that the user started.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from jsonschema.validators import extend

    rules = json.loads((SCHEMAS / f"{schema}.schema.json").read_text(encoding="utf-8"))
    if part is not None:
        rules = {"$ref": f"#/$defs/{part}", "$defs": rules["$defs"]}
    # In JSON Schema 4.0 is an integer; the code that uses the value needs an int.
    integers = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    validator = extend(Draft202012Validator, type_checker=integers)(rules)
    if (fault := best_match(validator.iter_errors(content))) is not None:
        raise PrivarmsError(f"{file}: {_explain(fault)}")


def _explain(fault: "ValidationError") -> str:
    key = fault.json_path.removeprefix("$").removeprefix(".") or "the file"
    found = fault.instance
    if fault.validator == "additionalProperties" and isinstance(found, Mapping):
        allowed = sorted(fault.schema.get("properties", {}))
        unknown = next(k for k in found if k not in allowed)
        prefix = "" if key == "the file" else f"{key}."
        return f"{prefix}{unknown}: unknown key; expected one of {', '.join(allowed)}"
    if fault.validator == "dependentRequired":
        return f"{key}: {fault.message}; add it"
    if fault.validator == "required":
        missing = next(k for k in fault.validator_value if k not in found)
        return f"{key}: the key {missing!r} is missing; add it"
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
