"""Check `privarms data`: every raw file with its status, in a folder with a mirror and without internet."""

import pytest
import yaml

from privarms.cli import command


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Go to a folder with five datasets: in place, in the mirror, wrong, without an answer, and to be got by hand."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.chdir(tmp_path)
    ways = {"place": {}, "copied": {}, "wrong": {}, "down": {"url": "http://127.0.0.1:9/down.csv"}, "mine": {}}
    keys = {"title": "T", "licence": "L", "citation": "C"}
    entries = {
        name: keys | {"files": [{"name": f"{name}.csv", **(way or {"by_hand": "ask the clinic"})}]}
        for name, way in ways.items()
    }
    # A variant with the same file is not listed twice.
    entries["variant"] = entries["place"] | {"folder": "place", "module": "place"}
    table, page = "a,b\n1,2\n", "<html>log in</html>\n"
    contents = {"data/raw/place": table, "mirror/copied": table, "data/raw/wrong": page}
    for folder, text in contents.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{folder.split('/')[-1]}.csv").write_text(text)
    (tmp_path / "data/sources.yaml").write_text(yaml.safe_dump(entries, sort_keys=False))
    return tmp_path


def test_every_file_is_there_fetched_wrong_or_missing(project, capsys):
    assert command.main(["data", "--mirror", "mirror"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["data/raw/place/place.csv: there", "data/raw/copied/copied.csv: fetched"]
    assert lines[2].startswith("data/raw/wrong/wrong.csv: wrong: ")
    assert "a page in HTML" in lines[2]
    assert lines[3].startswith("data/raw/down/down.csv: missing: http://127.0.0.1:9/down.csv: no connection")
    assert lines[4].startswith("data/raw/mine/mine.csv: missing: ")
    assert "ask the clinic" in lines[4]
    assert len(lines) == 5
    assert (project / "data/raw/copied/copied.csv").read_text() == "a,b\n1,2\n"


def test_missing_files_alone_are_no_fault(project, capsys):
    (project / "data/raw/wrong/wrong.csv").unlink()
    assert command.main(["data"]) == 0
    assert [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()] == ["there", *["missing"] * 4]
