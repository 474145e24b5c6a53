"""Check that a file is complete or missing, also if two processes write it at the same time."""

import pytest

from privarms.files.whole import whole


def test_two_writers_of_one_file_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "a.csv"
    with whole(path) as first, whole(path) as second:
        first.write_text("first, long")
        second.write_text("second")
        assert not path.exists()
    # The inner block ends first, so the outer one replaces its file.
    assert path.read_text() == "first, long"
    assert [*tmp_path.iterdir()] == [path]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), whole(path) as part:
        part.write_text("new" * 10_000 + "\ud800", encoding="utf-8")
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]
