"""How mutants are tried: in a copy, once, against the verdicts of the same size without a fault."""

import csv
import json
import os

import pytest
import yaml

from privarms.claims import ledger
from privarms.report.page import MUTANT_COLUMNS

from ...mutants import run
from ...mutants.listed import ROOT, Mutant, load
from ...mutants.reduced import LEAST, cost, fewer, reduced


def mutant(name="off_by_one", **values):
    entry = {"name": name, "file": "room/a.py", "text": "n + 1", "becomes": "n", "fault": "one less"}
    return Mutant(**entry, tests=("unit/test_a.py",), papers=("one2001",), **values)


@pytest.fixture
def project(tmp_path):
    """A library of one function, its test, and the results of two papers."""
    files = {
        "workflow/privarms/room/a.py": "def following(n):\n    return n + 1\n",
        "tests/unit/test_a.py": "from room.a import following\n\ndef test_a():\n    assert following(1) == 2\n",
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["workflow/privarms"]\n',
        "Snakefile": "",
        "data/raw/coins/table.csv": "1\n",
        "config/studies/one2001.yaml": "",
    }
    for name, text in files.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "project"


def test_a_mutant_changes_one_text_in_a_copy(project, tmp_path):
    run.bring_up_to_date(tmp_path / "copy", project)
    before = mutant().digest(project)
    mutant().apply(tmp_path / "copy")
    assert "return n\n" in mutant().path(tmp_path / "copy").read_text()
    assert "return n + 1" in mutant().path(project).read_text()
    # In a copy that has the fault already the text no longer stands.
    with pytest.raises(ValueError, match=r"off_by_one: expected this text once in room/a\.py, found it 0 times"):
        mutant().apply(tmp_path / "copy")
    assert mutant().digest(project) == before != mutant().digest(tmp_path / "copy")
    assert mutant(name="other").digest(project) != before


@pytest.mark.parametrize(
    "judge", ["tests/unit/test_a.py", "config/studies/one2001.yaml", "workflow/privarms/artifacts/one2001/claims.py"]
)
def test_a_mutant_is_judged_anew_by_other_tests_and_claims(project, judge):
    before = mutant().digest(project)
    other = project / judge.replace("one2001", "two2002").replace("test_a", "test_b")
    (project / judge).parent.mkdir(parents=True, exist_ok=True)
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text("of no concern")
    assert mutant().digest(project) == before
    (project / judge).write_text("another judge")
    assert mutant().digest(project) != before


def test_a_copy_is_brought_up_to_date_and_what_did_not_change_keeps_its_time(project, tmp_path):
    copy = tmp_path / "copy"
    run.bring_up_to_date(copy, project)
    old, same = copy / "workflow/privarms/room/a.py", copy / "pyproject.toml"
    for path in (old, same):
        os.utime(path, (1, 1))
    (copy / "workflow/privarms/room/gone.py").write_text("")
    (copy / "data/prepared").mkdir()
    (copy / "data/prepared/made.parquet").write_text("")
    (project / "workflow/privarms/room/a.py").write_text("changed")
    run.bring_up_to_date(copy, project)
    assert old.read_text() == "changed"
    assert old.stat().st_mtime > 1
    assert same.stat().st_mtime == 1
    assert not (copy / "workflow/privarms/room/gone.py").exists()
    # What the copy has made stays; raw data are not copied.
    assert (copy / "data/prepared/made.parquet").exists()
    assert (copy / "data/raw/coins/table.csv").is_symlink()


def test_a_mutant_s_copy_has_the_results_of_its_papers_alone(tmp_path):
    kept = [
        "results/paper/studies/one2001/s.parquet",
        "results/paper/claims/one2001.csv",
        "reduced/studies/one2001.yaml",
    ]
    left = [
        "results/paper/studies/two2002/s.parquet",
        "results/paper/claims/two2002.csv",
        "reduced/studies/two2002.yaml",
    ]
    for name in [*kept, *left, "config/studies/two2002.yaml"]:
        (tmp_path / "baseline" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "baseline" / name).write_text("")
    run.copied(tmp_path / "baseline", tmp_path / "copy", ("one2001",))
    there = {str(p.relative_to(tmp_path / "copy")) for p in (tmp_path / "copy").rglob("*") if p.is_file()}
    assert there == {*kept, "config/studies/two2002.yaml"}


def test_tests_are_run_in_the_copy(project, tmp_path):
    run.bring_up_to_date(tmp_path / "copy", project)
    assert run.failed_tests(tmp_path / "copy", mutant().tests) == (0, "")
    mutant().apply(tmp_path / "copy")
    failed, said = run.failed_tests(tmp_path / "copy", mutant().tests)
    assert failed == 1
    assert "test_a.py::test_a" in said
    with pytest.raises(run.Broken, match="pytest ended with status 4"):
        run.failed_tests(tmp_path / "copy", ["unit/test_none.py"])


def test_a_test_that_fails_without_a_fault_is_refused(project):
    run.refuse_failing_tests(project, mutant().tests, 1)
    (project / "tests/unit/test_a.py").write_text("def test_a():\n    assert False\n")
    with pytest.raises(run.Broken, match=r"fails without any fault: FAILED tests/unit/test_a\.py::test_a"):
        run.refuse_failing_tests(project, mutant().tests, 1)


def row(verdict, low=0.0, high=1.0):
    return {"verdict": verdict, "low": str(low), "high": str(high)}


def test_a_claim_flips_if_it_was_decided_and_is_judged_otherwise():
    verdicts = {"a": "reproduced", "b": "differs", "c": "inconclusive", "d": "unverifiable", "e": "differs"}
    before = {claim: row(verdict) for claim, verdict in verdicts.items()}
    assert run.flipped(before, before) == []
    verdicts |= {"a": "inconclusive", "b": "reproduced", "c": "differs", "d": "reproduced"}
    after = {claim: row(verdict, 10, 11) for claim, verdict in verdicts.items()}
    assert run.flipped(before, after) == ["a", "b"]


@pytest.mark.parametrize(
    ("before", "after", "flips"),
    [
        # Half-widths .3 and .4, so that a difference is known to .5.
        ((0.7, 1.3), (1.11, 1.91), True),
        ((0.7, 1.3), (1.09, 1.89), False),
        ((0.7, 1.3), (0.09, 0.89), True),
        # Exact numbers.
        ((2, 2), (2.001, 2.001), True),
        ((2, 2), (2, 2), False),
        ((0, 0), ("inf", "inf"), True),
        # So wide that nothing is known.
        ((0.7, 1.3), ("-inf", "inf"), False),
        # No number any more.
        ((0.7, 1.3), ("", ""), True),
    ],
)
def test_a_verdict_that_another_draw_may_change_is_no_flip(before, after, flips):
    found = run.flipped({"a": row("reproduced", *before)}, {"a": row("inconclusive", *after)})
    assert found == ["a"] * flips


@pytest.fixture
def judged(project, monkeypatch):
    """The project with a list of two mutants; what is judged is noted, not run."""
    mutants, calls = [mutant("first"), mutant("second")], []

    def judge(one, baseline, copy, before):
        calls.append(one.name)
        found = {"mutant": one.name, "file": one.file, "fault": one.fault}
        return found | {"tests_failed": 1, "claims_flipped": 2, "seconds": 3, "said": "", "flipped": ["c", "d"]}

    monkeypatch.setattr(run, "ROOT", project)
    monkeypatch.setattr(run, "load", lambda: mutants)
    monkeypatch.setattr(run, "judge", judge)
    monkeypatch.setattr(run, "bring_up_to_date", lambda copy: None)
    monkeypatch.setattr(run, "write_reduced", lambda copy, papers: None)
    monkeypatch.setattr(run, "refuse_failing_tests", lambda *_: None)
    monkeypatch.setattr(run, "verdicts", lambda *_, **__: {"one2001/c": row("reproduced")})
    return calls


def table(project):
    with (project / "results/mutants.csv").open(newline="") as file:
        return list(csv.reader(file))


def test_rows_that_are_there_are_made_again_only_if_what_they_rest_on_changed(project, judged, monkeypatch):
    assert run.main([]) == 0
    assert sorted(judged) == ["first", "second"]
    header, *rows = table(project)
    assert tuple(header) == MUTANT_COLUMNS == ("mutant", "file", "fault", "tests_failed", "claims_flipped", "seconds")
    assert rows == [[name, "room/a.py", "one less", "1", "2", "3"] for name in ("first", "second")]
    record = json.loads((project / "results/mutants/rows/first.json").read_text())
    assert record["flipped"] == ["c", "d"]
    judged.clear()
    assert run.main([]) == 0
    assert judged == []
    other = Mutant("second", "room/a.py", "n + 1", "n + 2", "one more", ("unit/test_a.py",), ("one2001",))
    monkeypatch.setattr(run, "load", lambda: [mutant("first"), other])
    assert run.main([]) == 0
    assert judged == ["second"]
    judged.clear()
    (project / "workflow/privarms/room/a.py").write_text("def following(n):\n    return n + 1 \n")
    assert run.main(["first"]) == 0
    assert judged == ["first"]
    # That of the file as it was is no row of the file as it is: it is listed, and not counted.
    assert [row[:1] + row[3:] for row in table(project)[1:]] == [["first", "1", "2", "3"], ["second", "", "", ""]]


def test_an_edit_while_mutants_run_makes_a_row_stale(project, judged, monkeypatch):
    judge = run.judge

    def meanwhile(one, *others):
        (project / "tests/unit/test_a.py").write_text("# another test")
        return judge(one, *others)

    monkeypatch.setattr(run, "judge", meanwhile)
    assert run.main(["first"]) == 0
    judged.clear()
    monkeypatch.setattr(run, "judge", judge)
    assert run.main(["first"]) == 0
    assert judged == ["first"]


def test_a_mutant_that_cannot_be_judged_leaves_no_row_and_takes_no_other_with_it(project, judged, monkeypatch, capsys):
    judge = run.judge

    def sometimes(one, *others):
        if one.name == "first":
            raise run.Broken("Snakemake ended with status 1")
        return judge(one, *others)

    monkeypatch.setattr(run, "judge", sometimes)
    assert run.main([]) == 1
    assert [row[:1] + row[3:] for row in table(project)[1:]] == [["first", "", "", ""], ["second", "1", "2", "3"]]
    assert "first: not judged: Snakemake ended with status 1" in capsys.readouterr().err


def test_an_unknown_name_is_refused(judged, capsys):
    with pytest.raises(SystemExit):
        run.main(["third"])
    assert "no mutant is called third" in capsys.readouterr().err


def test_a_mutant_is_judged_in_a_copy_by_its_own_papers(project, tmp_path, monkeypatch):
    before = {"one2001/c": row("reproduced"), "two2002/c": row("reproduced")}
    monkeypatch.setattr(run, "verdicts", lambda *_, **__: {"one2001/c": row("differs", 10, 11)})
    found = run.judge(mutant(), project, tmp_path / "copy", before)
    assert (found["tests_failed"], found["claims_flipped"], found["flipped"]) == (1, 1, ["one2001/c"])
    assert not (tmp_path / "copy").exists()
    assert "n + 1" in mutant().path(project).read_text()


def test_verdicts_are_read_from_the_papers_that_were_asked_for(project, monkeypatch):
    rows = [{"claim": "one2001/a", "variant": v, "verdict": "differs"} for v in ("", "as_released")]
    monkeypatch.setattr(ledger, "read", lambda path: rows)
    asked = []

    def snakemake(copy, *command):
        asked.extend(command)
        return run.subprocess.CompletedProcess([], 0, "")

    monkeypatch.setattr(run, "_run", snakemake)
    assert run.verdicts(project, ["one2001"], 1) == dict(zip(("one2001/a", "one2001/a as_released"), rows, strict=True))
    assert asked[-1] == "results/paper/claims/one2001.csv"
    assert "studies=reduced/studies" in asked


def test_a_reduced_study_keeps_its_cells_and_horizons():
    study = {
        "replicates": 1000,
        "block": 100,
        "horizon": 50,
        "grid": {"epsilon": [1, 2]},
        "policies": [{"policy": "a"}, {"policy": "b", "replicates": 20}, {"policy": "c", "replicates": 3}],
    }
    assert fewer(study, 1.0, LEAST) == study
    few = fewer(study, 0.01, 5)
    assert few["replicates"] == 10
    assert [policy.get("replicates") for policy in few["policies"]] == [None, 5, 3]
    assert {k: v for k, v in few.items() if k not in ("replicates", "policies")} == {
        k: v for k, v in study.items() if k not in ("replicates", "policies")
    }


@pytest.mark.parametrize("paper", sorted({paper for one in load() for paper in one.papers}))
def test_reduced_studies_are_within_their_seconds_or_have_the_least_replicates(paper, tmp_path):
    file = ROOT / "config" / "studies" / f"{paper}.yaml"
    content = reduced(file, seconds=1.0)
    (tmp_path / file.name).write_text(yaml.safe_dump(content, sort_keys=False))
    again = reduced(tmp_path / file.name, seconds=1e9)
    assert again == content
    for name, study in content["studies"].items():
        entries = [study, *study["policies"]]
        least = all(entry.get("replicates", 0) <= LEAST for entry in entries)
        # What has the least replicates, or a part of one more, may take longer.
        short = fewer(study, 0.0, LEAST)
        assert least or cost(file, paper, name, study) <= 1.0 + 2 * cost(file, paper, name, short)
