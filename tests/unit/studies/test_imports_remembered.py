"""What a file imports is read once, and again when its text or its place is another."""

import ast

import pytest

from privarms.files import remembered
from privarms.studies import library


@pytest.fixture
def parsed(tmp_path, monkeypatch):
    """The files that were parsed, with nothing remembered before."""
    monkeypatch.setattr(remembered, "FOLDER", tmp_path / "remembered")
    seen = []
    monkeypatch.setattr(library, "_parsed", lambda path, text: seen.append(path) or ast.parse(text))
    return seen


def test_imports_are_read_once_and_anew_from_another_text(parsed, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from privarms.studies import plan\n\nif plan:\n    import privarms.job\n")
    expected = ["privarms.studies", "privarms.studies.plan", "privarms.job"]
    assert [library._imports(script) for _ in range(2)] == [expected, expected]
    assert parsed == [script]
    script.write_text("import privarms.ledger\n")
    assert library._imports(script) == ["privarms.ledger"]
    assert parsed == [script, script]


def test_the_same_text_in_another_package_imports_something_else(parsed, tmp_path, monkeypatch):
    monkeypatch.setattr(library, "ROOT", tmp_path / "privarms")
    found = []
    for room in ("policies", "audits"):
        module = tmp_path / "privarms" / room / "one.py"
        module.parent.mkdir(parents=True)
        module.write_text("from . import two\n")
        found.append(library._imports(module))
    assert found == [[f"privarms.{room}", f"privarms.{room}.two"] for room in ("policies", "audits")]


def test_a_folder_that_cannot_be_made_stops_nothing(parsed, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(remembered, "FOLDER", tmp_path / "file" / "remembered")
    script = tmp_path / "script.py"
    script.write_text("import privarms.ledger\n")
    assert [library._imports(script) for _ in range(2)] == [["privarms.ledger"]] * 2
    assert parsed == [script, script]


def test_a_file_that_a_machine_left_empty_is_read_anew(parsed, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import privarms.ledger\n")
    library._imports(script)
    (kept,) = remembered.FOLDER.iterdir()
    kept.write_text("")
    assert library._imports(script) == ["privarms.ledger"]
    assert parsed == [script, script]


def test_a_file_without_imports_is_remembered_too(parsed, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("x = 1\n")
    assert [library._imports(script) for _ in range(2)] == [[], []]
    assert parsed == [script]


def test_a_file_that_was_edited_since_it_was_parsed_has_the_imports_of_its_text(parsed, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import privarms.ledger\n")
    library.tree(script)
    script.write_text("import privarms.job\n")
    assert library._imports(script) == ["privarms.job"]
