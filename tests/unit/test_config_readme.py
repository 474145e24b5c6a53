"""Check that the JSON Schemas are those of the models, and that config/README.md explains every key of them."""

import json
import re

import pytest
from tools import schemas

from tests import ROOT

PAGE = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
SCHEMAS = {
    file.name.partition(".")[0]: json.loads(file.read_text(encoding="utf-8"))
    for file in (ROOT / "workflow" / "schemas").glob("*.json")
}


def keys(schema):
    """Return every key of a schema."""
    if isinstance(schema, list):
        return {key for one in schema for key in keys(one)}
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})) | {key for value in schema.values() for key in keys(value)}


def explained():
    """Return the texts between backticks."""
    return {word for text in re.findall(r"`([^`]+)`", PAGE) for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_is_explained(name):
    assert keys(SCHEMAS[name]) - explained() == set()


@pytest.mark.parametrize("name", schemas.MODELS)
def test_a_schema_is_that_of_its_model(name):
    """If this fails, run `python tools/schemas.py`."""
    assert (schemas.FOLDER / f"{name}.schema.json").read_text(encoding="utf-8") == schemas.text(name)
