"""Check that config/README.md explains every key of the schemas."""

import json
import re

import pytest

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
