"""Check that an unsuitable environment of a run gives one clear error before any job."""

import os
import subprocess
import sys
import time
from importlib.metadata import version

import pytest

from privarms.data.sources import choose_mirror
from privarms.errors import PrivarmsError
from privarms.planning import surroundings


def test_an_ordinary_folder_is_fine(tmp_path):
    (tmp_path / "data/raw").mkdir(parents=True)
    (tmp_path / "my_analysis.py").write_text("")
    # A job replaces a link to a file.
    (tmp_path / "results/quick/studies").mkdir(parents=True)
    (tmp_path / "results/quick/studies/figure1.parquet").symlink_to(tmp_path / "gone")
    (tmp_path / "results/quick/shards").symlink_to(tmp_path / "data")
    surroundings.check(tmp_path, tmp_path)


def braces(folder):
    folder = folder / "run{1}"
    folder.mkdir()
    return folder


def hides(folder):
    (folder / "pandas.py").write_text("")


def hides_the_standard_library(folder):
    (folder / "statistics.py").write_text("")


def dangling(folder):
    (folder / "data/raw/adult").mkdir(parents=True)
    (folder / "data/raw/adult/adult.data").symlink_to(folder / "gone")


def results_on_a_purged_disk(folder):
    (folder / "results").symlink_to(folder / "purged")


def shards_on_a_purged_disk(folder):
    (folder / "results/tiny").mkdir(parents=True)
    (folder / "results/tiny/shards").symlink_to(folder / "purged")


def logs_of_a_stage_on_a_purged_disk(folder):
    (folder / "logs/quick").mkdir(parents=True)
    (folder / "logs/quick/simulate").symlink_to(folder / "purged")


def from_the_future(folder):
    (folder / "config").mkdir()
    (folder / "config/config.yaml").write_text("")
    os.utime(folder / "config/config.yaml", (time.time() + 86_400,) * 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (braces, "without braces"),
        (hides, r"pandas\.py: hides the Python package pandas"),
        (hides_the_standard_library, "statistics"),
        (dangling, r"adult\.data: broken link to .*gone"),
        (results_on_a_purged_disk, r"results: broken link to .*purged"),
        (shards_on_a_purged_disk, r"results/tiny/shards: broken link to .*purged"),
        (logs_of_a_stage_on_a_purged_disk, r"logs/quick/simulate: broken link to .*purged"),
        (from_the_future, r"config\.yaml: dated in the future"),
    ],
)
def test_what_would_break_a_run_is_one_error(tmp_path, make, words):
    folder = make(tmp_path) or tmp_path
    with pytest.raises(PrivarmsError, match=words):
        surroundings.check(folder, folder)


def test_a_python_that_removes_docstrings_is_refused(tmp_path):
    code = "from pathlib import Path; from privarms.planning import surroundings as s; s.check(Path(), Path())"
    for level, ending in (("1", ""), ("2", "unset PYTHONOPTIMIZE\n")):
        environment = os.environ | {"PYTHONOPTIMIZE": level, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.stderr.endswith(ending)
        assert bool(done.returncode) == bool(ending)


def test_a_package_of_pythonpath_that_hides_another_version_is_named(tmp_path, monkeypatch):
    assert [*surroundings.other_versions()] == []
    monkeypatch.syspath_prepend(tmp_path)
    for hiding, lines in ((version("numpy"), 0), ("1.26.4", 1)):
        (tmp_path / "numpy.dist-info").mkdir(exist_ok=True)
        (tmp_path / "numpy.dist-info/METADATA").write_text(f"Metadata-Version: 2.1\nName: numpy\nVersion: {hiding}\n")
        found = [*surroundings.other_versions()]
        assert len(found) == lines
    assert found[0].startswith(f"numpy: version 1.26.4 of {tmp_path} is used, and not version ")


def test_a_mirror_may_be_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "raw").mkdir()
    assert choose_mirror("~/raw") == str(tmp_path / "raw")


def test_a_command_is_made_again_with_its_configuration():
    line = ["snakemake", "sajed2019", "--cores", "4", "--configfile", "my file.yaml", "config/quick.yaml", "-n"]
    assert surroundings.configuration(line) == "--configfile 'my file.yaml' config/quick.yaml"
    assert surroundings.configuration(["snakemake", "--config", "scale=quick", "--cores=2"]) == "--config scale=quick"
    assert surroundings.configuration(["snakemake", "--cores", "2", "all"]) == ""


def test_a_second_option_of_one_kind_is_refused():
    with pytest.raises(PrivarmsError, match="--configfile once"):
        surroundings.configuration(["--configfile", "a.yaml", "--cores", "1", "--configfile=b.yaml"])
    with pytest.raises(PrivarmsError, match="--config once"):
        surroundings.configuration(["--config", "seed=2", "--cores", "1", "-C", "scale=quick"])
    both = ["--configfile", "a.yaml", "--config", "seed=2"]
    assert surroundings.configuration(["snakemake", *both]) == " ".join(both)
