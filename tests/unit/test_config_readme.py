"""config/README.md explains every key that the schemas know, and no other."""

import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
SCHEMAS = {
    file.name.partition(".")[0]: json.loads(file.read_text(encoding="utf-8"))
    for file in (ROOT / "workflow" / "schemas").glob("*.json")
}


def keys(schema):
    """Every key that a schema names."""
    if isinstance(schema, list):
        return {key for one in schema for key in keys(one)}
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})) | {key for value in schema.values() for key in keys(value)}


def explained():
    """What stands between backticks."""
    return {word for text in re.findall(r"`([^`]+)`", PAGE) for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_is_explained(name):
    assert keys(SCHEMAS[name]) - explained() == set()


def test_every_key_of_a_table_is_one():
    named = {word for row in re.findall(r"^\| (`[^|]*) \|", PAGE, re.M) for word in re.findall(r"`(\w+)`", row)}
    assert named - {key for schema in SCHEMAS.values() for key in keys(schema)} == set()


def test_the_catalog_finds_what_it_wants():
    """The conventions of the Snakemake workflow catalog."""
    shown = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))["usage"]
    assert {"mandatory-flags", "software-stack-deployment", "report"} == set(shown)
    assert (ROOT / "Snakefile").is_file()
    assert (ROOT / "LICENSE").is_file()
    assert (ROOT / "README.md").is_file()
