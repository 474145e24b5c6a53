"""Check YAML files: their values, and clear errors with the file, the line or key, and the value."""

import pytest

from privarms.errors import PrivarmsError
from privarms.files import settings


def read(tmp_path, text, encoding="utf-8"):
    file = tmp_path / "p2020.yaml"
    file.write_bytes(text.encode(encoding))
    return settings.read(file)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("5e-1", 0.5), ("1e5", 10**5), ("1E5", 10**5), ("-1e+5", -(10**5)), ("-2E-3", -2e-3), ("1.e2", 100.0)],
        *[("5", 5), ("0.5", 0.5), ("1.5e+3", 1500.0), ("'1e5'", "1e5"), ("1e5x", "1e5x"), ("e5", "e5"), ("2 8", "2 8")],
    ],
)
def test_numbers_are_spelled_as_in_yaml_1_2_and_json(tmp_path, text, value):
    actual = read(tmp_path, f"a: [x, {text}]")["a"][1]
    assert (actual, type(actual)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"), [("1e3", 1000), ("0.5", 0.5), ("2020-02-31", "2020-02-31"), ("9" * 400, int("9" * 400))]
)
def test_a_single_value_is_read_as_in_a_file_or_is_a_text(text, value):
    assert settings.scalar(text) == value


def test_merged_keys_are_overridden_and_own_keys_are_unique(tmp_path):
    text = "one: &one {a: 1, b: 2}\nmore: {two: &two {<<: *one, b: 3}}\nthree: {<<: *two, a: 4}\n"
    assert read(tmp_path, text) == {
        "one": {"a": 1, "b": 2},
        "more": {"two": {"a": 1, "b": 3}},
        "three": {"a": 4, "b": 3},
    }
    with pytest.raises(PrivarmsError, match=r"duplicate key 'b'.*line 2"):
        read(tmp_path, "one: &one {a: 1}\ntwo: {<<: *one, b: 2, b: 3}\n")
    assert read(tmp_path, "a: 1", "utf-8-sig") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", "cannot be read: .*line 3.*expected UTF-8 text in valid YAML"),
        ("studies: {a: 1, b: 2, a: 3}", "duplicate key 'a'.*line 1"),
        ("a: 1\nb: {3: 4}", "expected a text as key, found '3'; put it in quotes.*line 2"),
        ("a: {? [1, 2] : 3}", "expected a text as key"),
        ("a: 2020-02-31", "cannot be read: day is out of range"),
        ("a: !!python/object/apply:os.getcwd []", "cannot be read: .*line 1"),
        ("[1, 2]", "expected a mapping of keys to values"),
        ("", "expected a mapping of keys to values"),
    ],
)
def test_a_fault_is_one_line_with_its_place(tmp_path, text, message):
    with pytest.raises(PrivarmsError, match=message) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/p2020.yaml: ")
    assert "\n" not in str(caught.value)


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(PrivarmsError, match=r"cannot be read: .*byte 0xfc in position 8.*expected UTF-8"):
        read(tmp_path, "title: für", "latin-1")
    with pytest.raises(PrivarmsError, match=r"none\.yaml: cannot be read: .*No such file"):
        settings.read(tmp_path / "none.yaml")
