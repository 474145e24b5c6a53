"""Check that links of the pages work, examples run, and every public module has a page."""

import csv
import math
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from privarms.audits.power import power
from privarms.cli.command import main
from privarms.data.preparation import prepare
from privarms.data.sources import load_sources
from privarms.inference.max_information import best_beta, corrected_level, corrected_p_value
from privarms.registry import library
from tests import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("[cd]*/README.md"), *(ROOT / "docs").glob("*.md")]
PAGES = sorted([*PAGES, *(ROOT / "docs/developer").glob("*.md")])


def anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        if link.startswith("http"):
            continue
        path, _, place = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if place:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert place in map(anchor, headings), f"{page.name}: {link}"


def test_the_examples_about_own_data_run(tmp_path, monkeypatch, capsys):
    text = (ROOT / "docs/own-data.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    Path("history.csv").write_text(re.search(r"```csv\n(.*?)```", text, re.DOTALL)[1], encoding="utf-8")
    examples = re.findall(r"```python\n((?:(?!```).)*)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 3
    for code, printed in examples:
        exec(compile(code, "docs/own-data.md", "exec"), {})
        assert capsys.readouterr().out == printed
    # Three of four pulls: P(X > 3) + .3 P(X = 3) = (1 + .3 * 4) / 16; the correction only makes it larger.
    p, corrected = map(float, examples[0][1].split())
    assert p == pytest.approx(2.2 / 16)
    assert p < corrected <= 1
    (command, printed) = re.search(r"```sh\nprivarms (correct .*?)\n```\n\n```\n(.*?)```", text, re.DOTALL).groups()
    assert main(command.split()) == 0
    assert capsys.readouterr().out == printed


def test_the_numbers_of_the_floor_and_of_the_power_of_audits_are_computed():
    text = (ROOT / "docs/own-data.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for information, *printed in rows:
        epsilon, rounds = math.sqrt(float(information) / 10_000), 10_000
        beta = best_beta(epsilon, rounds, 0.05)
        level, corrected = corrected_level(0.05, epsilon, rounds, beta), corrected_p_value(1e-6, epsilon, rounds, beta)
        assert [float(number) for number in printed] == pytest.approx([beta, level, corrected], rel=0.05)  # two digits
    text = (ROOT / "docs/limitations.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| (?:more than )?([\d.]+) \|$", text, re.MULTILINE)
    assert len(rows) == 3
    for epsilon, printed in rows:
        found = power(0.05, 0.05 * math.exp(float(epsilon)), claimed=1, trials=20_000, confidence=0.95)
        assert 0 <= found - float(printed) < 0.011


def test_the_module_of_a_dataset_makes_a_bandit(tmp_path, monkeypatch):
    text = (ROOT / "docs/own-data.md").read_text(encoding="utf-8")
    module = types.ModuleType("privarms.data.coins")
    exec(re.search(r"data/coins.py`:\n\n```python\n(.*?)```", text, re.DOTALL)[1], module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    (tmp_path / "sources.yaml").write_text(re.search(r"```yaml\n(coins:.*?)```", text, re.DOTALL)[1], encoding="utf-8")
    coins = load_sources(tmp_path / "sources.yaml")["coins"]
    lines = [*module.generate()["coins.csv"], "9,museum,both"]
    (tmp_path / "coins.csv").write_text("\n".join(lines), encoding="utf-8")
    facts = prepare(coins, [tmp_path / "coins.csv"], tmp_path / "coins.parquet", tmp_path / "coins.json")
    assert (facts["n_target"], facts["source_names"], facts["K"]) == (100, ["station"], 2)
    assert facts["files"]["coins.csv"]["dropped"] == 1


def test_the_example_of_an_accepted_range_is_a_case_of_the_ledger():
    text = (ROOT / "docs/verdicts.md").read_text(encoding="utf-8")
    *printed, measured, low, high = re.search(
        r"R is ([\d.]+) to ([\d.]+)\. We measure ([\d.]+) with I = ([\d.]+) to ([\d.]+)\.", text
    ).groups()
    with (ROOT / "docs/results/ledger.csv").open(encoding="utf-8", newline="") as file:
        case = next(row for row in csv.DictReader(file) if row["statement"] == "neel2018/experiment_2_times")
    exact = [*case["accepted"].split(" to "), case["measured"], case["low"], case["high"]]
    assert [*printed, measured, low, high] == [f"{float(number):.1f}" for number in exact]
    picture = (ROOT / "docs/verdict.svg").read_text(encoding="utf-8")
    assert picture.count(f"{low} to {high}") == 2
    assert picture.count(f"{printed[0]} to {printed[1]}") == 2


@pytest.mark.long
def test_the_site_has_a_page_for_every_public_module_and_no_broken_link(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    modules = [file.relative_to(library.ROOT).with_suffix("") for file in library.ROOT.rglob("*.py")]
    public = [m for m in modules if not any(part.startswith("_") for part in m.parts)]
    assert len(public) > 100
    assert [str(m) for m in public if not (tmp_path / f"api/privarms.{'.'.join(m.parts)}.html").is_file()] == []
    policies = (tmp_path / "reference/policies.html").read_text(encoding="utf-8")
    assert [name for name in library.names("policies") if f"<code>{name}</code>" not in policies] == []
