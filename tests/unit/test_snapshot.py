"""README and the pages of the papers show the committed ledger in docs/results/."""

import importlib.util
import json
import re

import numpy as np
import pytest
from PIL import Image, ImageColor

from privarms.plots import style
from privarms.report import markdown
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


SETTINGS = {"policy": "DP-SE", "variant": "as printed", "K": "3", "d": "", "epsilon": "1, 2", "n": "100", "runs": "30"}
SETTINGS |= {"others": "top 0.5", "study": "regret", "file": "config/papers/one2001/studies.yaml", "lines": (12, 34)}


def artifact(name, title, **values):
    about = {"name": name, "title": title, "caption": f"Caption of {name}.", "reason": "", "kind": "figure"}
    about |= {"card": "", "tab": "", "front": False, "data": "simulated", "files": {"png": f"{name}.png"}}
    return about | {"private_policies": [], "settings": [], "further": []} | values


FIGURE = {"card": "Figure 1: regret", "settings": [SETTINGS]}
COLLECTIONS = [
    {
        **{"key": "one2001", "short": "One 2001", "title": "On one", "authors": "A. First", "venue": "Venue 2001"},
        "year": 2001,
        "artifacts": [
            artifact("fig1", "Figure 1: regret", tab="First", **FIGURE),
            artifact("fig1_symmetric", "Figure 1: regret, of the program", tab="Second", **FIGURE),
            artifact("fig2", "Figure 2: pulls"),
            artifact("table1", "Table 1: reward", kind="table"),
            artifact("appendix", "Our own figure"),
        ],
        "readings": [
            {"text": "A choice. Its reason.", "source": "not stated", "tried": ["five_times"], "affects": ["fig1"]},
            {"text": "Another choice.", "source": "ours", "affects": ["fig1"]},
        ],
    },
    {
        **{"key": "two2002", "short": "Two", "title": "Ours", "authors": "B. Second", "venue": "", "year": 2002},
        "artifacts": [artifact("nowhere", "Nowhere")],
        "readings": [],
    },
]


@pytest.fixture
def made_up(snapshot, tmp_path, monkeypatch):
    """Return README's generated part and the pages of a made-up ledger."""
    ledgers.write(tmp_path)
    run = {"scale": "paper", "commit": "0123456789abcdef", "judged": "abcdef0123456789", "date": "2026-01-31"}
    run["datasets"] = {"adult": "real", "taxi": "missing", "jobs": "missing"}
    (tmp_path / "run.json").write_text(json.dumps(run))
    (tmp_path / "one2001").mkdir()
    for name in ("fig1", "fig1_symmetric", "fig2"):
        Image.new("RGB", (9, 9)).save(tmp_path / f"one2001/{name}.png")
    (tmp_path / "audit_losses.csv").write_text("subject,variant,verdict\n")
    costs = "one2001,fig1,12.4,610\none2001,fig2,,\none2001,,0.4,99\n"
    (tmp_path / "costs.csv").write_text(f"paper,artifact,minutes,megabytes\n{costs}")
    monkeypatch.setattr(snapshot, "SNAPSHOT", tmp_path)
    texts = {file.name: text for file, text in snapshot.texts(COLLECTIONS).items()}
    return texts["README.md"].partition(snapshot.BEGIN)[2].partition(snapshot.END)[0], texts


def cells(lines):
    return [re.split(r" *(?<!\\)\| *", line)[1:-1] for line in lines if line.startswith("| ") and "---" not in line]


def test_verdicts_md_says_how_many_cases_are_post_hoc_or_wrong_by_chance(made_up, snapshot):
    text = made_up[1]["verdicts.md"].partition(snapshot.BEGIN)[2].partition(snapshot.END)[0]
    # One of 18 cases has the reason why it is post hoc. The identity is decided without an interval.
    said = "The committed ledger has 18 cases, of which 1 is post hoc. 10 are decided with an interval"
    assert text.strip() == f"{said}, so at most 0.01 of them are wrong by chance on average."


def test_readme_has_a_finding_and_counts_sentences_and_printed_numbers_of_papers_apart(made_up):
    readme, _ = made_up
    # Two 2002 has no numbered figure, so it is no paper.
    header, line = cells(readme.splitlines())
    assert header == ["paper", "one finding", "sentences", "printed numbers"]
    states = (
        "2 hold or are not refuted",
        "2 fail or are refuted",
        "1 depends on an assumption",
        "1 measured",
        "1 open",
    )
    assert line[0] == "[One 2001](docs/papers/one2001.md)"
    assert line[1] == "It is 5.01 (from 5.0) & at least 4 is printed."
    assert line[2:] == ["<br>".join(states), "2 agree<br>1 differs<br>3 open"]
    text = " ".join(readme.split())
    assert (
        "Made at full scale on 2026-01-31: simulated at commit `0123456789ab`, judged at commit `abcdef012345`." in text
    )
    assert "1 of 17 cases is post hoc" in text
    # Jobs are missing too, but no statement needs them.
    assert "Missing data: taxi ([data](./data/README.md))." in text


def test_a_page_begins_with_the_answer_per_published_figure(made_up):
    page = made_up[1]["one2001.md"]
    header, *lines = cells(page.partition("\n## ")[0].splitlines())
    assert header == ["does it hold?", "the text", "the authors' program", "why"]
    # The question about our own figure is ours.
    assert [line[0] for line in lines] == ["[Figure 1](#fig1)", "[Table 1](#table1)"]
    assert all(f'<a id="{name}"></a>' in page for name in ("fig1", "fig1_symmetric", "fig2", "table1"))
    assert lines[0][1].startswith("◐ **partly**: 1 differs, 1 depends on width, 1 undecided; also: 1 not refuted")
    assert lines[0][2] == "✓ **yes**: 1 agrees"
    assert lines[0][3] == "It depends on width. Wide."
    assert lines[1][1] == "◐ **partly**: 1 agrees, 1 differs, 1 undecided, 2 unverifiable"
    assert lines[1][2:] == ["", ledgers.NO_DATA]
    assert "No statement is about Figure 2." in page


def test_a_figure_has_pictures_settings_cases_assumptions_and_its_command(made_up):
    page = made_up[1]["one2001.md"]
    figure = page[page.index("## Figure 1: regret") : page.index("## Figure 2")]
    assert figure.index("(../results/one2001/fig1.png)") < figure.index("<summary>Second</summary>")
    assert figure.index("<summary>Second</summary>") < figure.index("(../results/one2001/fig1_symmetric.png)")
    place = "[regret](../../config/papers/one2001/studies.yaml#L12-L34)"
    assert f"- DP-SE as printed: K 3; epsilon 1, 2; n 100; top 0.5; 30 runs ({place})" in figure
    # The settings of both tabs are the same, and said once.
    assert figure.count("- DP-SE") == 1
    assert "[Assumption 1](#assumption-1) decides: A choice. Other assumption: [2](#assumption-2)." in figure
    assert '1. <a id="assumption-1"></a>A choice. Its reason. *Source: not stated.*' in page
    command = "`snakemake one2001_fig1 --cores 4` makes Figure 1 again"
    assert f"{command}, in 12 core-minutes and at most 610 MB per job." in figure
    assert "`snakemake one2001_fig2 --cores 4` makes Figure 2 again." in page
    assert "makes all of this again, in less than a core-minute" in page


def test_a_page_has_each_statement_and_each_reason_once(made_up):
    page = made_up[1]["one2001.md"]
    for row in ledgers.ROWS:
        if row["paper"] == "one2001":
            assert page.count(f"{row['test']}".replace("_", "\\_")) == 1, row["statement"]
    assert "| 2 further cases: " in page
    first, second = cells(line for line in page.splitlines() if "width = " in line)
    assert first[0] == "1. **depends on width**: “The quote of five\\_times” (Section 5)"
    assert re.search(r"^1\. The test of five.*\*fails:\* Wide\.$", page, re.MULTILINE)
    assert first[1:] == ["width = log3", "at least 4", "5.012 [4.972, 5.053]", "✓ holds"]
    assert (second[0], second[-1]) == ("", "**✗ fails**")
    assert "*Post hoc:* The measure was changed." in page
    assert page.count("# Figure 1: regret\n") == 1
    assert "Effect of other choices: “The quote of five\\_times”: depends on width." in page
    assert "The quote of conjecture (our question)" in page.partition("## Not in the paper")[2]
    # Nothing of the other collection's statement was measured.
    page = made_up[1]["two2002.md"]
    assert f"**? unverifiable.** {ledgers.NO_DATA} “The quote of guess” (Section 5)." in page


def test_settings_and_sentences_of_captions_are_shown_once(made_up, snapshot):
    captions = {"fig1": "Regret. Bands: 95%.", "fig1_symmetric": "Regret. Dots: medians.", "fig2": "Pulls. Bands: 95%."}
    settings = {"fig1": [SETTINGS], "table1": [SETTINGS, SETTINGS | {"policy": "DP-UCB"}], "appendix": [SETTINGS]}
    artifacts = [
        one | {"caption": captions.get(one["name"], ""), "settings": settings.get(one["name"], [])}
        for one in COLLECTIONS[0]["artifacts"]
    ]
    page = snapshot.texts([COLLECTIONS[0] | {"artifacts": artifacts}])[snapshot.PAGES / "one2001.md"]
    figure = page[page.index("## Figure 1: regret") : page.index("## Figure 2")]
    assert (figure.count("Regret."), figure.count("Bands: 95%."), figure.count("Dots: medians.")) == (1, 1, 1)
    # Another figure has its whole caption, and only its own settings.
    assert "Pulls. Bands: 95%." in page
    assert (page.count("- DP-SE"), page.count("- DP-UCB")) == (1, 1)
    table, own = page[page.index("## Table 1") :], page[page.index("## Our own figure") :]
    assert "Settings: see [Figure 1](#fig1), and also:\n\n- DP-UCB" in table
    assert "Settings: see [Figure 1](#fig1)." in own


def test_pictures_side_by_side_have_one_caption_with_what_each_says_alone(made_up, snapshot):
    fig1 = COLLECTIONS[0]["artifacts"][0]
    some = [fig1 | {"tab": "", "name": name, "caption": f"Regret, {name}. Bands: 95%."} for name in ("fig1a", "fig1b")]
    for name in ("fig1a", "fig1b"):
        Image.new("RGB", (9, 9)).save(snapshot.SNAPSHOT / f"one2001/{name}.png")
    page = snapshot.texts([COLLECTIONS[0] | {"artifacts": [one | {"tab": "Both"} for one in some]}])
    page = page[snapshot.PAGES / "one2001.md"]
    assert "**Figure 1a.** Regret, fig1a.\n**Figure 1b.** Regret, fig1b.\nBands: 95%.\n" in page


def test_statements_share_a_table_with_a_column_per_value_of_a_setting(snapshot, made_up, tmp_path):
    def row(name, size, method, verdict, published="at least 4"):
        about = {"case": f"size = {size}, method = {method}", "published": published, "artifact": "one2001/fig1"}
        return ledgers.case(f"one2001/{name}", "comparison", verdict, measured=f"{size}.5", **about)

    methods = ("ucb", "imed", "halving")
    rows = [row("first", size, method, "holds") for size in (1, 2) for method in methods]
    rows += [row("second", 3, method, "fails" if method == "ucb" else "holds") for method in methods[:2]]
    rows += [row("third", 4, method, "holds", f"at least {n}") for n, method in enumerate(methods)]
    ledgers.write(tmp_path, rows, {})
    page = snapshot.texts(COLLECTIONS)[snapshot.PAGES / "one2001.md"]
    # Method saves seven lines, size four.
    header, *lines = cells(page[page.index("| statement") :].splitlines()[:6])
    assert header == ["statement", "setting", "published", "ucb", "imed", "halving"]
    # Statements with few cases come first. A statement is named in its first line only.
    assert [bool(line[0]) for line in lines] == [True, True, True, False]
    settings = [["size = 3", "at least 4"], ["size = 4", ""], ["size = 1", "at least 4"], ["size = 2", "at least 4"]]
    assert [line[1:3] for line in lines] == settings
    assert lines[2][3:] == ["1.5 [4.972, 5.053] ✓"] * 3
    # The second statement has no case of one method.
    assert lines[0][3:] == ["**3.5 [4.972, 5.053] ✗**", "3.5 [4.972, 5.053] ✓", ""]
    # What is printed differs from column to column.
    assert lines[1][3:] == [f"at least {n} → 4.5 [4.972, 5.053] ✓" for n in range(3)]


def test_a_printed_table_of_many_numbers_is_one_table_with_its_differences(made_up, snapshot, tmp_path):
    rows = []
    for n in range(6):
        named = {"case": f"method = m{n % 2}, size = {n // 2}", "published": str(n)}
        rows.append(ledgers.cell("", "agrees" if n % 2 else "differs", "") | named)
    ledgers.write(tmp_path, rows, {})
    page = snapshot.texts(COLLECTIONS)[snapshot.PAGES / "one2001.md"]
    table = page[page.index("## Table 1") :]
    assert "All cases: accepted: 4 to 6; 100\u202f000 runs. Each cell: published → measured." in table
    header, *lines = cells(table[table.index("| method") :].splitlines()[:4])
    assert header == ["method", "0", "1", "2"]
    assert lines[0] == ["m0", "0 → **5.012 ✗**", "2 → **5.012 ✗**", "4 → **5.012 ✗**"]
    assert lines[1] == ["m1", "1 → 5.012 ✓", "3 → 5.012 ✓", "5 → 5.012 ✓"]


def test_the_cost_of_a_figure_is_the_time_and_memory_of_its_jobs(snapshot, tmp_path):
    for name, line in (("a", "90\t100.4"), ("b", "30.06\t-")):
        (tmp_path / f"{name}.tsv").write_text(f"s\tmax_rss\n{line}\n")
    results = tmp_path / "results/paper"
    assert snapshot._cost(results, {"a.tsv", "b.tsv"}) == {"minutes": "2.0", "megabytes": "100"}
    # Without one of its jobs the cost is not known.
    assert snapshot._cost(results, {"a.tsv", "c.tsv"}) == {"minutes": "", "megabytes": ""}


def test_text_of_papers_is_not_read_as_markup():
    assert markdown.plain("a_b * |x| <i>\n c") == r"a\_b \* \|x\| &lt;i> c"


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
