"""README and the pages of the papers show the committed ledger in docs/results/."""

import importlib.util
import json
import re

import numpy as np
import pytest
from PIL import Image, ImageColor

from privarms.plots import style
from tests import ROOT, ledgers


@pytest.fixture(scope="module")
def snapshot():
    specification = importlib.util.spec_from_file_location("snapshot", ROOT / "tools/snapshot.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def papers(snapshot):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIVARMS_DATASETS", "")  # which the plan sets; it is gone afterwards
        return snapshot.papers()


def test_readme_and_pages_are_those_of_the_committed_ledger(snapshot, papers):
    for file, text in snapshot.texts(papers).items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: run python tools/snapshot.py"


def artifact(name, title):
    return {"name": name, "title": title, "caption": f"Caption of {name}.", "reason": "", "kind": "figure"}


COLLECTIONS = [
    {
        **{"key": "one2001", "short": "One 2001", "title": "On one", "authors": "A. First", "venue": "Venue 2001"},
        "artifacts": [
            artifact("fig1", "Figure 1: regret"),
            artifact("fig1_symmetric", "Figure 1: regret, of the program"),
            artifact("fig2", "Figure 2: pulls"),
            artifact("table1", "Table 1: reward"),
            artifact("appendix", "Our own figure"),
        ],
        "readings": [{"text": "A choice.", "source": "not stated", "tried": ["five_times"]}],
    },
    {
        **{"key": "two2002", "short": "Two", "title": "Ours", "authors": "B. Second", "venue": ""},
        "artifacts": [artifact("nowhere", "Nowhere")],
        "readings": [],
    },
]


@pytest.fixture
def made_up(snapshot, tmp_path, monkeypatch):
    """Return README's generated part and the pages of a made-up ledger."""
    ledgers.write(tmp_path)
    run = {"scale": "paper", "commit": "0123456789abcdef", "date": "2026-01-31"}
    run["datasets"] = {"adult": "real", "taxi": "missing", "jobs": "missing"}
    (tmp_path / "run.json").write_text(json.dumps(run))
    (tmp_path / "one2001").mkdir()
    Image.new("RGB", (9, 9)).save(tmp_path / "one2001/fig2.png")
    monkeypatch.setattr(snapshot, "SNAPSHOT", tmp_path)
    texts = {file.name: text for file, text in snapshot.texts(COLLECTIONS).items()}
    return texts["README.md"].partition(snapshot.BEGIN)[2].partition(snapshot.END)[0], texts


def cells(lines):
    return [re.split(r" *(?<!\\)\| *", line)[1:-1] for line in lines if line.startswith("| ") and "---" not in line]


def test_readme_counts_sentences_and_printed_numbers_of_papers_apart(made_up):
    readme, _ = made_up
    # Two 2002 has no numbered figure, so it is no paper.
    header, line = cells(readme.splitlines())
    assert header == [
        *(
            "paper",
            "sentences",
            "hold or are not refuted",
            "fail or are refuted",
            "depend on an assumption",
            "measured",
        ),
        *("open", "printed numbers", "agree", "differ", "open"),
    ]
    assert line == ["[One 2001](docs/papers/one2001.md)", *"722111", *"6213"]
    text = " ".join(readme.split())
    assert "Made at full scale on 2026-01-31, at commit `0123456789ab`." in text
    assert "1 of 17 cases are post hoc" in text
    # Jobs are missing too, but no statement needs them.
    assert "Data that are missing: taxi." in text


def test_every_finding_of_readme_names_its_paper_and_its_figure(made_up):
    found = [line for line in made_up[0].splitlines() if line.startswith("- ")]
    headline = "It is 5.01 (from 5.0) & at least 4 is printed."
    assert found == [f"- **One 2001, Figure 1** (depends on width): {headline}"]


def test_a_page_begins_with_one_line_per_published_figure(made_up):
    page = made_up[1]["one2001.md"]
    header, *lines = cells(page.partition("\n## ")[0].splitlines())
    assert header == ["figure", "text", "program", "why"]
    names = ["[Figure 1](#fig1)", "[Figure 2](#fig2)", "[Table 1](#table1)"]
    assert [line[0] for line in lines] == names
    assert all(f'<a id="{name}"></a>' in page for name in ("fig1", "fig2", "table1"))
    assert lines[0][1] == "depends, differs, refuted, not refuted, true, false, measured, undecided"
    assert lines[0][2] == "agrees"
    # Its statements fail for several reasons, which are below.
    assert lines[0][3] == "decided by width"
    assert lines[1][1] == "no statement"
    assert lines[2] == [
        "[Table 1](#table1)",
        "agrees, differs, undecided, 2 × unverifiable",
        "",
        ledgers.NO_DATA,
    ]


def test_a_page_has_each_statement_and_each_reason_once(made_up):
    page = made_up[1]["one2001.md"]
    for row in ledgers.ROWS:
        if row["paper"] == "one2001":
            assert page.count(f"{row['test']}".replace("_", "\\_")) == 1, row["statement"]
    # Once below the table, and once for the figure's line.
    assert page.count(ledgers.NO_DATA) == 2
    assert "| 2 further cases |" in page
    first, second = cells(line for line in page.splitlines() if "width = " in line)
    assert first[0].startswith("**depends on width**: “The quote of five\\_times” (Section 5). The test")
    assert first[1:6] == ["width = log3", "at least 4", "5.012 [4.972, 5.053]", "100\u202f000", "holds"]
    assert (second[0], second[-2:]) == ("", ["fails", "Wide."])
    assert "*Post hoc:* The measure was changed." in page
    assert page.count("# Figure 1: regret\n") == 1
    assert "[![Figure 2: pulls](../results/one2001/fig2.png)]" in page
    assert "Effect of other choices: “The quote of five\\_times” (Section 5): depends on width." in page
    ours = page.partition("## Other questions of our own")[2]
    assert "The quote of conjecture (our question)" in ours
    # Nothing of the other collection's statement was measured.
    page = made_up[1]["two2002.md"]
    assert "## Other" not in page
    assert f"- {ledgers.NO_DATA} “The quote of guess” (Section 5)" in page.partition("## Unverifiable")[2]


def test_a_printed_table_of_many_cases_is_a_table_with_a_column_per_setting(snapshot, tmp_path, monkeypatch):
    rows = [ledgers.cell(f"m{n}", "agrees" if n % 2 else "differs", str(n)) for n in range(11)]
    ledgers.write(tmp_path, rows)
    (stated,) = snapshot.of_statements.of_papers(tmp_path / "ledger.csv", tmp_path / "statements.csv")
    text = "\n".join(snapshot._statements([stated]))
    assert text.count("Table 1") == 2  # the quotation and its place
    assert "All rows: dataset = adult; accepted: 4 to 6; 100\u202f000 runs." in text
    assert "<summary>6 × differs, 5 × agrees</summary>" in text
    header, *lines = cells(text.splitlines())
    assert header == ["method", "published", "measured", "verdict"]
    assert lines[0] == ["m0", "0", "5.012 [4.972, 5.053]", "differs"]
    assert len(lines) == 11


def test_text_of_papers_is_not_read_as_markup(snapshot):
    assert snapshot._plain("a_b * |x| <i>\n c") == r"a\_b \* \|x\| &lt;i> c"


def test_a_copied_picture_keeps_the_colours_of_its_curves(snapshot, tmp_path):
    figure, ax = style.subplots(width=6.8, height=2.5)
    x = np.linspace(0, 1, 50)
    for place, colour in enumerate(style.COLOURS):
        ax.plot(x, x + place, color=colour, label=str(place))
        ax.fill_between(x, x + place - 0.4, x + place + 0.4, color=colour, alpha=0.2, linewidth=0)
    ax.legend()
    figure.savefig(tmp_path / "fig1.png", dpi=200)
    snapshot.small(tmp_path / "fig1.png", tmp_path / "copies")
    with Image.open(tmp_path / "copies/fig1.png") as copy:
        assert copy.width == snapshot.PIXELS
        found = np.array([colour for _, colour in copy.convert("RGB").getcolors(copy.width * copy.height)], np.int64)
    for colour in style.COLOURS:
        assert np.abs(found - ImageColor.getrgb(colour)).max(axis=1).min() <= 10, colour
