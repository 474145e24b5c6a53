"""Check runs of the whole pipeline: identical results, and only the necessary jobs after changes."""

import itertools
import os
import re
import statistics
from pathlib import Path

import pytest
import yaml

from privarms.registry.modules import PolicyModule
from tests import ROOT

from .conftest import Project, copied, only

pytestmark = pytest.mark.workflow


def test_everything_is_made(made):
    actual = made.digests()
    for path in (
        "results/tiny/report.html",
        "results/tiny/ledger.csv",
        "results/tiny/figures/sajed2019/fig1a.csv",
        "results/tiny/figures/ma2025/adult_sensitivity.png",
        "results/tiny/tables/sajed2019/regret.csv",
        "results/tiny/studies/sajed2019/figure1.parquet",
        "results/tiny/studies/sajed2019/figure1_cells.parquet",
    ):
        assert path in actual
    logs = {p.relative_to(made.folder / "logs/tiny").with_suffix("") for p in (made.folder / "logs").rglob("*.log")}
    timed = {p.relative_to(made.folder / "logs/tiny").with_suffix("") for p in made.folder.rglob("*.tsv")}
    assert logs == timed
    assert len(logs) > 30


def test_papers_are_made_one_after_the_other(made):
    """Check that papers are made in order, except for single long jobs."""
    rooms = ("studies", "inference", "figures", "tables", "cases")
    files = [p for room in rooms for p in (made.folder / "results/tiny" / room).rglob("*") if p.is_file()]
    times: dict[str, list[float]] = {}
    for file in files:
        paper = file.stem if file.parent.name == "cases" else file.parent.name
        times.setdefault(paper, []).append(file.stat().st_mtime)
    assert len(times) > 4
    for before, after in itertools.pairwise(sorted(times.values(), key=min)):
        assert sum(time < statistics.median(before) for time in after) < len(after) / 10


# Other programs read these files. docs/output.md lists their columns, with the key columns in bold.
OF_PAPERS = {
    "sajed2019": "regret regret_atoms stopping_time large_mean noise_alone audit",
    "neel2018": "bias rejections max_information false_discovery regret",
    "li2024": "table2 table3 pareto coverage privacy_audit lap_plus",
    "ma2025": "regret deviations table1 table2 table2_ranks table2_comparisons",
}
TABLES = [f"{paper}/{name}" for paper, names in OF_PAPERS.items() for name in names.split()]


def documented(table):
    """Return the columns of a table and its key columns."""
    text = (ROOT / "docs/output.md").read_text(encoding="utf-8")
    row = re.sub(r" \([^)]*\)", "", re.search(rf"^\| {table} \| (.*) \|$", text, re.MULTILINE)[1])
    parts = [[name for name in re.split(r"[, ]+", part) if name] for part in row.split("**")]
    return list(itertools.chain(*parts)), list(itertools.chain(*parts[1::2]))


@pytest.mark.parametrize("table", TABLES)
def test_tables_keep_their_columns_and_have_one_row_per_key(made, table):
    columns, key = documented(table)
    first, *more = made.rows(f"tables/{table}.csv")
    assert list(first) == columns
    keys = [tuple(row[name] for name in key) for row in (first, *more)]
    assert len(set(keys)) == len(keys)


def test_the_names_that_people_type_are_targets(made):
    listed = made.run("--list-rules").stdout.split()
    wanted = {"all", "figures", "tables", "ledger", "audit", "sajed2019", "ma2025", "sajed2019_fig1a", "ma2025_table1"}
    assert wanted <= set(listed)


@pytest.mark.long
def test_jobs_that_snakemake_starts_itself_give_the_same_bytes(small_made, small):
    small.complete(PRIVARMS_FORKSERVER="0")
    assert small.digests() == small_made.digests()


def test_a_second_run_does_nothing(made):
    assert made.pending() == set()
    assert "Nothing to be done" in made.run("-n").stdout


def edited(made: Project, folder: Path, file: str) -> set[str]:
    """Return the outputs to make again after a comment was added to a module of a complete project."""
    copy = copied(made.folder, folder / "copy")
    with (copy.folder / file).open("a", encoding="utf-8") as source:
        source.write("\n# An edit.\n")
    return copy.pending()


def test_an_edit_of_one_policy_makes_its_own_jobs_and_what_depends_on_them_again(made, tmp_path):
    file = PolicyModule("successive_elimination").file.relative_to(ROOT)
    pending = edited(made, tmp_path, str(file))
    shards = {Path(p).parent.name + "/" + Path(p).stem.split("-")[0] for p in pending if "/shards/" in p}
    assert shards == {f"{paper}/successive_elimination" for paper in ("sajed2019", "synthesis")}
    studies = {Path(p).stem.removesuffix("_cells") for p in pending if "/studies/" in p}
    assert studies == {"figure1", "regret", "central"}
    assert {"results/tiny/ledger.csv", "results/tiny/report.html"} <= pending
    assert any("/figures/sajed2019/" in p for p in pending)
    assert not any("ma2025" in p for p in pending)


def test_an_edit_of_a_module_of_figures_draws_them_again_and_nothing_else(made, tmp_path):
    pending = edited(made, tmp_path, "workflow/privarms/papers/ma2025/figures_real_data.py")
    folder = "results/tiny/figures/ma2025"
    drawn = pending - {"results/tiny/report.html"}
    assert drawn < pending
    assert {f"{folder}/adult_sensitivity.{e}" for e in ("pdf", "png", "svg", "csv")} <= drawn
    # Figures of other modules are not made again.
    assert drawn < {f"{folder}/{file.name}" for file in (made.folder / folder).iterdir()}


@pytest.mark.parametrize(
    ("file", "again"),
    [("config/papers/us2026/published/table1.csv", {"cases"}), ("uv.lock", {"cases", "shards"})],
)
def test_an_edited_file_with_an_old_date_is_noticed(small_made, tmp_path, file, again):
    copy = copied(small_made.folder, tmp_path / "copy")
    with (copy.folder / file).open("a", encoding="utf-8") as text:
        text.write("\n# An edit.\n")
    os.utime(copy.folder / file, (1e9, 1e9))
    folders = {Path(path).parts[2] for path in copy.pending()}
    assert folders & {"cases", "shards"} == again


def test_an_edit_of_one_paper_s_statements_judges_them_again_and_draws_nothing(made, tmp_path):
    copy = copied(made.folder, tmp_path / "copy")
    file = copy.folder / "config/papers/sajed2019/statements.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    content["statements"][0]["place"] = "Another section"
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    again = ("cases/sajed2019.csv", "ledger.csv", "statements.csv", "report.html")
    assert copy.pending() == {f"results/tiny/{name}" for name in again}


def test_stand_in_data_are_called_so_everywhere(made):
    rows = [row for row in made.rows("ledger.csv") if row["data"] == "stand-in"]
    assert rows
    assert all((row["paper"], row["verdict"]) == ("ma2025", "unverifiable") for row in rows)
    table = (made.folder / "results/tiny/tables/ma2025/table1.md").read_text(encoding="utf-8")
    assert "synthetic stand-in" in table.lower()
    assert {row["data"] for row in made.rows("figures/ma2025/adult_sensitivity.csv")} == {"stand-in"}
    assert ",stand-in\n" in (made.folder / "results/tiny/tables/ma2025/table1.csv").read_text(encoding="utf-8")
    assert "synthetic stand-in" in (made.folder / "results/tiny/report.html").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize(
    ("target", "jobs"),
    [
        # This figure is drawn only from formulas.
        ("li2024_fig1", {"draw_figures": 1}),
        # Its statements need two inference tables without studies.
        ("neel2018_max_information", {"compute_inference": 2, "write_tables": 1, "judge_statements_about": 1}),
        # It and its statements read these studies and no other study of their paper: DP-SE, both rules and DP-UCB.
        (
            "sajed2019_audit",
            dict.fromkeys(("simulate_shard", "aggregate_study"), 4)
            | {"compute_inference": 5, "write_tables": 1, "judge_statements_about": 1},
        ),
    ],
)
def test_an_artifact_s_target_plans_what_the_artifact_needs(fresh, target, jobs):
    paper, _, _ = target.partition("_")
    planned = only(fresh, paper).run("-n", target).stdout
    counts = dict(re.findall(r"^(\w+) +(\d+)$", planned.split("Job stats:")[-1], flags=re.MULTILINE))
    assert {rule: int(n) for rule, n in counts.items() if rule not in ("total", target)} == jobs


def test_the_target_of_an_artifact_ends_with_its_verdicts(fresh):
    done = only(fresh, "neel2018").run("neel2018_max_information")
    lines = [line for line in done.stderr.splitlines() if line.startswith("neel2018/max_information: ")]
    assert lines, done.stderr
    rows = fresh.rows("cases/neel2018/max_information.csv")
    assert {row["artifact"] for row in rows} == {"neel2018/max_information"}
    assert lines[0].endswith(f", of {len(rows)} cases")
    assert fresh.rows("tables/neel2018/max_information.csv")


@pytest.mark.long
def test_a_figure_that_fails_takes_nothing_with_it(small):
    figures = small.folder / "workflow/privarms/papers/us2026/figures.py"
    figures.write_text(
        figures.read_text(encoding="utf-8")
        + "\n\nregistered = fig1.registered\n\n\ndef fig1(results):\n    raise KeyError('a stranger')\n"
        + "\n\nfig1.registered = registered\n",
        encoding="utf-8",
    )
    done = small.run()
    assert done.returncode != 0
    log = "logs/tiny/draw_figures/us2026/fig1.log"
    assert f"failed: draw_figures us2026 fig1: KeyError: 'a stranger'\n  log: {log}\n" in done.stderr
    assert done.stderr.count("\nfailed: ") == 1
    assert (small.folder / "results/tiny/tables/us2026/privacy.tex").exists()
    assert (small.folder / "results/tiny/ledger.csv").exists()
    assert not (small.folder / "results/tiny/figures/us2026/fig1.png").exists()


def test_one_rule_a_stage_can_be_asked_for(small):
    planned = small.run("-n", "--until=simulate_shard").stdout
    assert "aggregate_study" not in planned
    assert "simulate_shard" in planned
