"""A file that was held against its schema is not held again, and one that could have a fault always is."""

import os
import time
from pathlib import Path

import pytest

from privarms.errors import PrivarmsError
from privarms.files import remembered, settings

ROOT = Path(__file__).parents[3]
CONTENT = settings.read(ROOT / "config/config.yaml")


@pytest.fixture
def looks(tmp_path, monkeypatch):
    """How often a content was held against its schema."""
    monkeypatch.setattr(remembered, "FOLDER", tmp_path / "remembered")
    remembered._remove_old.cache_clear()
    seen, validator = [], settings._validator

    class Looking:
        def __init__(self, rules):
            self.rules = validator(rules)

        def iter_errors(self, content):
            seen.append(content)
            return self.rules.iter_errors(content)

    monkeypatch.setattr(settings, "_validator", Looking)
    return seen


def test_what_passed_is_not_looked_at_again(looks):
    settings.validate(dict(CONTENT), "config", "config.yaml")
    once = len(looks)
    assert once > 0
    settings.validate(dict(CONTENT), "config", "another.yaml")
    assert len(looks) == once
    settings.validate(CONTENT | {"seed": 2}, "config", "config.yaml")
    assert len(looks) > once


def test_a_fault_is_found_each_time_and_a_float_becomes_an_integer_each_time(looks):
    for _ in range(2):
        with pytest.raises(PrivarmsError, match="seed"):
            settings.validate(CONTENT | {"seed": -1}, "config", "config.yaml")
        content = CONTENT | {"seed": 3.0}
        settings.validate(content, "config", "config.yaml")
        assert isinstance(content["seed"], int)


def test_what_is_long_unused_goes_and_a_folder_that_cannot_be_made_stops_nothing(looks, tmp_path, monkeypatch):
    settings.validate(dict(CONTENT), "config", "config.yaml")
    (old,) = remembered.FOLDER.iterdir()
    then = time.time() - (remembered.KEPT_DAYS + 1) * 86_400
    os.utime(old, (then, then))
    remembered._remove_old.cache_clear()
    settings.validate(CONTENT | {"seed": 2}, "config", "config.yaml")
    assert not old.exists()
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(remembered, "FOLDER", tmp_path / "file" / "remembered")
    settings.validate(CONTENT | {"seed": 5}, "config", "config.yaml")
