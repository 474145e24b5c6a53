"""Check the report page: complete, safe, self-contained and reproducible."""

import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import quote, unquote

import pandas as pd
import pytest
from PIL import Image

from privarms.errors import PrivarmsError
from privarms.ledger.cases import COLUMNS
from privarms.ledger.rules import VERDICTS
from privarms.report.page import build_report
from privarms.report.words import glossary
from tests import ledgers

QUOTE = "regret <script>alert(1)</script> & \"less\" than 'that'"
DATASETS = [
    {"name": "adult", "title": "Adult", "status": "stand-in", "message": "Take it from https://a.org/x."},
    {"name": "taxi", "title": "Taxi", "status": "real", "message": ""},
]

# A row of the table of all audits.
AUDITED = {"claimed_epsilon": "1.0", "exact": "1.5", "lower_bound": "1.38", "level": "0.9967", "trials": "200000"}
AUDITED |= dict.fromkeys(("power_against_half_noise", "broken_twin_lower_bound", "note", "variant"), "")
AUDITED |= {"setting": "K = 2", "name": "", "subject": "p_1", "verdict": "", "settings": "1"}


class Page(HTMLParser):
    """Parsed page: elements with attributes, and the text outside script and style."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text, self.source = [], "", text
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        # Nothing but blanks is between the end of a script and the next element.
        if self.elements and self.elements[-1][0] not in ("script", "style"):
            self.text += data

    def all(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]

    def ids(self):
        return Counter(attributes["id"] for _, attributes in self.elements if "id" in attributes)


class World:
    """A results folder with two papers and their ledger, and its page."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.output = folder / "report.html"
        self.ledger, self.statements = ledgers.write(folder)
        self.arguments = {"scale": "quick", "revision": "abc<1>", "seed": 1, "datasets": DATASETS}
        self.arguments |= {"ledger": self.ledger, "statements": self.statements, "options": "", "glossary": glossary()}
        self.write_audits()
        figure = self.artifact("one2001", "fig1", "figure", ("png", "pdf", "svg", "csv"))
        table = self.artifact("one2001", "table1", "table", ("csv", "md", "tex"))
        other = self.artifact("two2002", "fig1", "figure", ("png", "csv"), data="stand-in")
        Image.new("RGB", (680, 480)).save(figure["files"]["png"])
        Image.new("RGB", (1360, 480)).save(other["files"]["png"])
        figure["files"]["svg"].write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
        table["files"]["csv"].write_text("name,n\n" + "".join(f"<b>{n}</b>,{n}\n" for n in range(1234)))
        self.papers = [
            self.paper("one2001", [figure, table]),
            self.paper("two2002", [other], authors="C. Third and D. Fourth"),
        ]

    def artifact(self, paper, name, kind, suffixes, **values):
        room = self.folder / f"{kind}s" / paper
        room.mkdir(parents=True, exist_ok=True)
        files = {suffix: room / f"{name}.{suffix}" for suffix in suffixes}
        for path in files.values():
            path.write_text("column\n1\n")
        texts = {"title": f"Title of {paper} {name}", "caption": f"Caption of {paper} {name}"}
        texts |= dict.fromkeys(("card", "tab", "front", "reason"), "")
        own = {
            "name": name,
            "kind": kind,
            "data": "simulated",
            "files": files,
            "private_policies": [],
            "settings": [],
            "further": [],
        }
        return own | texts | values

    def paper(self, key, artifacts, **values):
        readings = [
            {"text": f"An open choice of {key}", "source": "not stated in the paper"},
            {"text": f"A reading of {key}", "source": "Section 5"},
        ]
        texts = {"title": f"On {key}", "authors": "A. First and B. Second", "year": 2001, "venue": "Venue"}
        return {"key": key, **texts, "readings": readings, "artifacts": artifacts} | values

    def write_ledger(self, rows, about=None):
        ledgers.write(self.folder, rows, about)

    def write_audits(self, *lines):
        """Write the files of all audits; a line: name, verdict and changed columns."""
        files = {suffix: self.folder / f"audit_losses.{suffix}" for suffix in ("csv", "pdf", "png", "svg")}
        files["table"] = self.folder / "audit.csv"
        self.arguments["audits"] = files
        for file in files.values():
            file.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
        Image.new("RGB", (1360, 900)).save(files["png"])
        rows = [AUDITED | {"name": name, "verdict": verdict} | changed for name, verdict, changed in lines]
        pd.DataFrame(rows, columns=list(AUDITED)).to_csv(files["csv"], index=False)

    def build(self, **changes):
        build_report(self.output, **({"papers": self.papers} | self.arguments | changes))
        return Page(self.output.read_text(encoding="utf-8"))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "quick")


def test_every_artifact_statement_and_case_is_there_once(world):
    page = world.build()
    ids = page.ids()
    assert [name for name, times in ids.items() if times != 1] == []
    artifacts = {"one2001/fig1", "one2001/table1", "two2002/fig1"}
    names = Counter(row["statement"] for row in ledgers.ROWS)
    statements = {f"statement-{name}" for name in names}
    cases = {f"case-{name}-{number}" for name, times in names.items() for number in range(1, times + 1)}
    readings = {f"{key}/reading{end}" for key in ("one2001", "two2002") for end in ("s", "-1", "-2")}
    assert {name for name in ids if "/" in name} == artifacts | statements | cases | readings
    for name in ("one2001 fig1", "one2001 table1", "two2002 fig1"):
        assert page.text.count(f"Caption of {name}") == 1
    # A quotation is in its card and in the ledger's rows, a test in the card only.
    assert page.text.count("The quote of five_times".replace("_", " ")) == 1 + 2
    assert page.text.count("The test of five times.") == 1
    assert page.text.count("Post hoc: The measure was changed.") == 1
    # Missing data are named once for the cells of a table; the ledger names them in each row.
    card = re.search(r'id="statement-one2001/table_1">.*?</section>', page.source, re.DOTALL)[0]
    assert card.count(ledgers.NO_DATA) == 1
    assert "2 further cases were not measured." in card
    for key in ("one2001", "two2002"):
        assert page.text.count(f"An open choice of {key}") == page.text.count(f"A reading of {key}") == 1


def test_what_is_written_in_the_inputs_stays_text(world):
    row = ledgers.case("one2001/a", "words", "measured", quote=QUOTE, case=f"x = {QUOTE}", why=QUOTE, test=QUOTE)
    world.write_ledger([row, row | {"case": "x = 1"}])
    page = world.build()
    assert page.text.count(QUOTE) > 4
    assert "<script>alert" not in page.source
    assert len(page.all("script")) == 2
    assert "<b>3</b>" in page.text
    assert "abc<1>" in page.text
    # No value can close an attribute.
    world.papers[0]["artifacts"][0]["title"] = QUOTE
    assert any(attributes.get("alt") == QUOTE for attributes in world.build().all("img"))


def test_nothing_is_fetched_from_elsewhere(world):
    page = world.build()
    for tag, attributes in page.elements:
        assert "srcset" not in attributes
        if "src" in attributes:
            assert attributes["src"].startswith("data:"), tag
        if tag == "link":
            assert attributes["href"].startswith("data:")
        assert tag not in ("iframe", "object", "embed", "base")
    assert not any("src" in attributes for attributes in page.all("script"))
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|http-equiv=.refresh", page.source)
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_links_lead_to_files_beside_the_page_and_to_places_on_it(world):
    page = world.build()
    ids = page.ids()
    targets = [unquote(attributes["href"]) for attributes in page.all("a")]
    # The part after a question mark is a filter of the ledger.
    inside = [target[1:].partition("?")[0] for target in targets if target.startswith("#")]
    beside = [target for target in targets if not target.startswith(("#", "https:"))]
    assert set(inside) - set(ids) == set()
    assert {"statement-one2001/bias", "one2001/table1"} <= set(inside)
    assert {"ledger.csv", "figures/one2001/fig1.csv", "figures/one2001/fig1.pdf", "tables/one2001/table1.tex"} <= set(
        beside
    )
    assert all((world.folder / target).is_file() for target in beside)


def test_the_same_inputs_give_the_same_bytes(world, tmp_path):
    world.build()
    other = World(tmp_path / "elsewhere" / "quick")
    other.build()
    assert world.output.read_bytes() == other.output.read_bytes()
    assert [path.name for path in world.folder.iterdir() if path.name.startswith(".")] == []


def test_quick_results_are_not_taken_for_published_ones(world):
    assert "Fewer runs and shorter horizons than published" in world.build(scale="quick").text
    assert "Fewer runs" not in world.build(scale="paper").text


def test_commands_have_the_configuration_of_the_run(world):
    assert "snakemake one2001_fig1 --cores 4 --configfile my.yaml" in world.build(options="--configfile my.yaml").text


def test_what_is_to_be_done_about_missing_data_is_there_with_links(world):
    page = world.build()
    assert "Take it from https://a.org/x." in page.text
    assert {"https://a.org/x", "#data"} <= {a["href"] for a in page.all("a")}


def test_values_are_rounded_for_reading_and_printed_ones_are_not(world):
    page = world.build()
    assert "5.012" in page.text
    assert "5.0123456789" not in page.text
    assert "4.972 to 5.053" in page.text
    assert "100\u202f000" in page.text
    assert "0.110" in page.text


def test_counts_of_the_front_page_are_those_of_the_ledger_that_they_open(world):
    page = world.build()
    front = re.search(r'id="overview">.*?</section>\n<section class="view', page.source, re.DOTALL)[0]
    rows = [a for a in page.all("tr") if "data-counted" in a]
    assert len(rows) == len(ledgers.ROWS)
    counted = [(a["data-counted"], ledgers.number(row)) for a, row in zip(rows, ledgers.ROWS, strict=True)]
    for group, states in (("sentences", ledgers.SENTENCES), ("printed numbers", ledgers.PRINTED)):
        for word, number in states.items():
            opened = {key for state, key in counted if state == f"{group}: {word}"}
            assert len({key[0] for key in opened} if group == "sentences" else opened) == number
            # The front page counts per paper.
            link = rf'href="#ledger\?counted={re.escape(quote(f"{group}: {word}"))}&amp;paper=\w+">.*?<b>(\d+)</b>'
            assert sum(map(int, re.findall(link, front))) == number, word
    for verdict, number in Counter(row["verdict"] for row in ledgers.ROWS).items():
        assert sum(a["data-verdict"] == verdict for a in rows) == number
        assert f'<a class="count" href="#ledger?verdict={quote(verdict)}">' in front
    assert "1 case</a> was chosen or changed after a value was seen" in " ".join(front.split())
    # Every filter is a field of the form and an attribute of the rows.
    fields = {a["name"] for a in page.all("input", "select")} - {"text"}
    assert fields == {"paper", "verdict", "kind", "whose", "post_hoc", "needs_data", "counted"}
    assert all(f"data-{field}" in rows[0] for field in fields)


def test_the_front_page_begins_with_the_papers_and_keeps_our_collections_apart(world):
    own = world.artifact("three2003", "overview", "figure", ("png", "csv"), front=True)
    Image.new("RGB", (680, 480)).save(own["files"]["png"])
    row = ledgers.case("three2003/better", "comparison", "holds", artifact="three2003/overview")
    world.write_ledger([*ledgers.ROWS, row])
    source = world.build(papers=[world.paper("three2003", [own]), *world.papers]).source
    front = source[source.index('id="overview"') : source.index('<section class="view paper"')]
    papers, ours = front.partition("Collections of our own")[::2]
    assert re.findall(r'<h3><a href="#(\w+)">', papers) == ["one2001", "two2002"]
    assert re.findall(r'<h3><a href="#(\w+)">', ours) == ["three2003"]
    # One headline each, although a page may have more.
    assert papers.count('class="headline"') == 1
    # Sentences and printed numbers have a bar each; questions of our own have none.
    assert papers.count('class="bar"') == 3
    assert papers.count('class="legend') == 1


def test_a_recommended_policy_is_a_table_next_to_the_audits(world):
    table = world.artifact("one2001", "advice", "table", ("csv", "md", "tex", "png"), front=True)
    table["files"]["csv"].write_text("K,T,epsilon,take,regret\n5,100,1,dp_best,77\n")
    Image.new("RGB", (680, 480)).save(table["files"]["png"])
    world.papers[0]["artifacts"].append(table)
    world.write_audits(("Tight", "no violation shown", {}))
    source = world.build().source
    front = source[source.index('class="fronts"') : source.index("<h2>All cases")]
    assert "dp_best" in front
    assert "77" not in re.sub(r"<[^>]*>", " ", front)
    assert front.index("dp_best") < front.index("Is it private? All audits")


def test_a_card_begins_with_the_question_and_the_answers(world):
    source = world.build().source
    card = re.search(r'<article class="card" id="one2001/fig1">.*?</article>', source, re.DOTALL)[0]
    header = " ".join(re.sub(r"<[^>]*>", " ", card[: card.index("</header>")]).split())
    assert "Does it hold? the text partly 1 differs, 1 depends on width, 1 undecided; also: 1 not refuted" in header
    assert "the authors’ program yes 1 agrees It depends on width. Wide." in header
    assert card.index("</header>") < card.index("<figure")
    assert re.search(r'<details class="fold" open><summary>7 sentences', card)


def test_the_settings_of_a_card_have_runs_and_the_lines_of_their_study(world):
    (world.folder / "studies.yaml").write_text("")
    row = {"policy": "DP-SE", "variant": "as printed", "K": "3", "d": "", "epsilon": "1, 2", "n": "10\u202f000"}
    row |= {"runs": "100", "others": "top 0.75", "study": "regret", "lines": (12, 34)}
    world.papers[0]["artifacts"][0]["settings"] = [row | {"file": str(world.folder / "studies.yaml")}]
    page = world.build()
    shown = " ".join(re.sub(r"<[^>]*>", " ", page.source).split())
    assert "policy variant K epsilon n runs other parameters study" in shown
    assert "DP-SE as printed 3 1, 2 10 000 100 top 0.75 regret , lines 12 to 34" in shown
    assert "studies.yaml" in {a.get("href") for a in page.all("a")}


def test_cases_that_need_missing_data_can_be_filtered(world):
    assert all(row["data-needs_data"] == "no" for row in world.build().all("tr") if "data-needs_data" in row)
    datasets = [dataset | {"status": "missing"} for dataset in DATASETS]
    rows = [a for a in world.build(datasets=datasets).all("tr") if "data-needs_data" in a]
    expected = ["yes" if row["why"] == ledgers.NO_DATA else "no" for row in ledgers.ROWS]
    assert [a["data-needs_data"] for a in rows] == expected


def test_every_verdict_is_explained_and_has_a_style(world):
    page = world.build()
    words = page.source[page.source.index('id="reading"') :]
    for verdict in VERDICTS:
        look = re.search(rf'<span class="badge (\w+)">{verdict}</span></dt><dd>[^<]+\.</dd>', words)[1]
        assert f":is(.badge, .sign).{look}::before" in page.source
    for kind in ("number", "comparison", "universal", "exact", "words"):
        assert f"<dt>{kind}</dt>" in words


def test_a_statement_with_several_cases_is_one_table(world):
    page = world.build()

    def statement(name):
        found = re.search(rf'id="statement-one2001/{name}">(.*?)</section>', page.source, re.DOTALL)[1]
        return " ".join(re.sub(r"<[^>]*>", " ", found).split()), found

    text, source = statement("five_times")
    assert text.startswith("depends on width “The quote of five times” (Section 5) The test of five times.")
    assert "All rows: published: at least 4; 100 000 runs." in text
    assert "log3 5.012 4.972 to 5.053 holds exact 5.012 4.972 to 5.053 fails fails: Wide." in text
    assert source.count("<table") == 1
    text, _ = statement("bias")
    assert text.startswith("only in the program")
    assert "The text: differs. The authors’ program: agrees." in text
    # A single case is a line.
    text, source = statement("theorem")
    assert "Measured: 5.012 4.972 to 5.053 , 100 000 runs; published: ratio at most 1 ." in text
    assert "At K = 2." in text
    assert "<table" not in source


def test_assumptions_name_the_outcomes_of_the_statements_that_try_them(world):
    world.papers[0]["readings"][0]["tried"] = ["five_times"]
    source = world.build().source
    item = source[source.index('id="one2001/reading-1"') :].partition("<li id")[0]
    assert '<a href="#statement-one2001/five_times">five times</a>' in item
    assert "depends on width" in item


def test_the_words_of_the_glossary_are_explained(world):
    world.build()
    page = world.output.read_text(encoding="utf-8")
    assert "<dt>horizon</dt><dd>T, the number of rounds of a run</dd>" in page
    assert "<dt>word</dt>" not in page


def test_headlines_have_outcome_and_links_on_the_front_page_and_on_the_paper(world):
    page = world.build()
    assert page.text.count("It is 5.01 (from 5.0) & at least 4 is printed.") == 2
    found = re.search(r'<section class="found">.*?</section>', page.source, re.DOTALL)[0]
    assert '<h3><a href="#one2001">one2001</a></h3>' in found
    first, _ = re.findall(r'<li class="headline">.*?</li>', page.source, re.DOTALL)
    assert ">depends on width<" in first
    assert re.findall(r'href="(#[^"]*)"', first) == ["#statement-one2001/five_times", "#one2001/fig1"]
    world.write_ledger(ledgers.ROWS, {})
    assert "No headline has a number in this run." in world.build().text


@pytest.mark.parametrize("columns", [[c for c in COLUMNS if c != "se"], COLUMNS[::-1]])
def test_a_ledger_with_other_columns_is_refused(world, columns):
    pd.DataFrame(ledgers.ROWS, columns=list(columns)).to_csv(world.ledger, index=False)
    with pytest.raises(PrivarmsError, match=r"ledger\.csv: expected the columns") as error:
        world.build()
    assert ", ".join(COLUMNS) in str(error.value)
    assert not world.output.exists()


def test_a_ledger_that_is_not_there_is_named(world):
    world.ledger.unlink()
    with pytest.raises(PrivarmsError, match=r"ledger\.csv"):
        world.build()


def test_an_artifact_that_was_not_made_says_why(world):
    world.papers[0]["artifacts"][0] |= {"files": {}, "reason": "taxi.csv is missing"}
    page = world.build()
    assert "was not made. taxi.csv is missing" in page.text
    assert page.ids()["one2001/fig1"] == 1


def test_the_audits_have_a_section_that_names_what_is_not_private(world):
    kept = {"exact": "", "lower_bound": "0.91", "broken_twin_lower_bound": "1.8"}
    kept |= {"settings": "3", "note": "The <twin>."}
    world.write_audits(("Leaky <UCB>", "not private as claimed", {}), ("Tight", "no violation shown", kept))
    page = world.build()
    shown = " ".join(page.text.split())
    assert "1 of 2 is not private as claimed: Leaky <UCB>." in shown
    assert "K = 2; one of 3 settings. The <twin>." in shown
    # No audit proves privacy, so the page must not say that one does.
    assert "no violation shown" in shown
    assert shown.count("private as claimed") == shown.count("not private as claimed")
    assert {"audit.csv", "audit_losses.pdf"} <= {a.get("href") for tag, a in page.elements if tag == "a"}
    assert page.ids()["audits"] == 1
    world.write_audits(("Tight", "no violation shown", kept))
    assert "None of the 1 shows a larger loss than claimed." in " ".join(world.build().text.split())
    world.write_audits()
    assert 'id="audits"' not in world.build().source


def test_the_caption_of_a_figure_warns_of_a_policy_that_failed_its_audit(world):
    world.papers[0]["artifacts"][0]["private_policies"] = [("dp_se", "")]
    world.write_audits(("Leaky", "not private as claimed", {"subject": "dp_se", "variant": ""}))
    warning = "The audits show that DP-SE is not private as claimed."
    assert warning in world.build().text
    world.papers[0]["artifacts"][0]["private_policies"] = [("dp_ucb", "")]
    assert warning not in world.build().text
