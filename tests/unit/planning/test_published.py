"""Check the published numbers of a paper, and that faults in them name file and key."""

import pytest

from privarms.errors import PrivarmsError
from privarms.planning import published


def test_numbers_and_words_are_as_printed(tmp_path):
    file = tmp_path / "numbers.yaml"
    file.write_text("runs: 1e4\nratio: 2.5\nrounded: '0.110'\n", encoding="utf-8")
    assert published.numbers(file) == {"runs": 10_000, "ratio": 2.5, "rounded": "0.110"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("runs: [1, 2]", r"numbers.yaml: runs: expected a number or a text; found \[1, 2\]"),
        ("runs: true", "numbers.yaml: runs: expected a number or a text; found True"),
        ("runs:", "numbers.yaml: runs: expected a number or a text; found None"),
        ("Runs: 1", "numbers.yaml: Runs: expected a name of lower-case letters, .*; found 'Runs'"),
        ("runs: .inf", "numbers.yaml: runs: expected a finite number; found inf"),
    ],
)
def test_a_fault_is_one_line_with_its_key(tmp_path, text, fault):
    (tmp_path / "numbers.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PrivarmsError, match=fault):
        published.numbers(tmp_path / "numbers.yaml")
