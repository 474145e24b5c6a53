"""Write the JSON Schemas of the YAML files, for editors, from the models that check these files.

python tools/schemas.py
"""

import json
from pathlib import Path

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from privarms.data.sources import SourcesFile
from privarms.planning.configuration import SCALES, Configuration
from privarms.planning.published import PublishedNumbers
from privarms.planning.statements import StatementsFile
from privarms.planning.studies import StudiesFile

FOLDER = Path(__file__).resolve().parents[1] / "workflow/schemas"
# name -> the file that it describes, and its model
MODELS: dict[str, tuple[str, type[BaseModel]]] = {
    "config": ("config/config.yaml and the files and options that override it", Configuration),
    "published": ("config/papers/<paper>/published/numbers.yaml", PublishedNumbers),
    "sources": ("data/sources.yaml: the raw files of every dataset and the options to read them", SourcesFile),
    "statements": ("config/papers/<paper>/statements.yaml", StatementsFile),
    "study": ("config/papers/<paper>/studies.yaml", StudiesFile),
}


class _Plain(GenerateJsonSchema):
    """Without titles and defaults; a key that may be left out has no value null unless the model accepts null."""

    def field_title_should_be_set(self, schema) -> bool:
        return False

    def default_schema(self, schema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def nullable_schema(self, schema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def text(name: str) -> str:
    """Return the JSON Schema of a file, as text."""
    title, model = MODELS[name]
    schema = model.model_json_schema(schema_generator=_Plain)
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
        nullable = getattr(model, "NULLABLE", ()) if part is schema else ()
        for key in nullable:
            part["properties"][key] = {"anyOf": [part["properties"][key], {"type": "null"}]}
        if name == "study":
            _with_scales(part)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return _lines(head | schema, depth=2) + "\n"


def _lines(part: dict, depth: int, margin: str = "") -> str:
    """Return JSON with one line per key, down to a depth."""
    shown = {
        key: _lines(value, depth - 1, margin + "  ") if depth > 1 and isinstance(value, dict) else json.dumps(value)
        for key, value in part.items()
    }
    inner = ",\n".join(f"{margin}  {json.dumps(key)}: {value}" for key, value in shown.items())
    return f"{{\n{inner}\n{margin}}}"


def _with_scales(part: dict) -> None:
    """Allow a mapping from scales to values for every value."""
    for place in ("properties", "patternProperties"):
        part[place] = {key: _at_scales(value) for key, value in part.get(place, {}).items()}
        if not part[place]:
            del part[place]
    if isinstance(part.get("additionalProperties"), dict):
        part["additionalProperties"] = _at_scales(part["additionalProperties"])


def _at_scales(value: dict) -> dict:
    required = [scale for scale in SCALES if scale != "tiny"]
    scales = {"type": "object", "properties": dict.fromkeys(SCALES, value), "required": required}
    return {"anyOf": [value, scales | {"additionalProperties": False}]}


if __name__ == "__main__":
    for name in MODELS:
        (FOLDER / f"{name}.schema.json").write_text(text(name), encoding="utf-8")
