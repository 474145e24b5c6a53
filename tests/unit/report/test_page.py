"""Check the report page: complete, safe, self-contained and reproducible."""

import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import unquote

import pandas as pd
import pytest
from PIL import Image

from privarms.claims.ledger import COLUMNS as LEDGER_COLUMNS
from privarms.claims.ledger import STATEMENTS
from privarms.errors import PrivarmsError
from privarms.report.page import build_report

STATEMENT = "regret <script>alert(1)</script> & \"less\" than 'that'"


def claim(name, paper="one2001", **values):
    row = dict.fromkeys(LEDGER_COLUMNS, "")
    row |= {"claim": name, "paper": paper, "artifact": "fig1", "statement": STATEMENT, "published": "5"}
    row |= {"reproduced": "5.0123456789", "se": "0.0123", "replicates": "100000", "tolerance": "at least 4"}
    row |= {"low": "4.9717", "high": "5.0529123", "margin": "24.9"}
    return row | {"verdict": "reproduced", "data": "simulated"} | values


CLAIMS = [
    claim("one/first"),
    claim("one/both", variant="as_printed", verdict="differs", note="The note of the printed variant."),
    claim("one/both", variant="as_released", artifact="one2001/table1"),
    claim("two/guess", paper="two2002", data="stand-in", verdict="unverifiable", artifact="nowhere"),
]
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
        self.ledger = folder / "ledger.csv"
        self.statements = folder / "statements.csv"
        self.arguments = {"scale": "quick", "revision": "abc<1>", "seed": 1, "datasets": DATASETS}
        self.arguments |= {"ledger": self.ledger, "statements": self.statements, "options": ""}
        self.write_audits()
        self.statements.write_text(
            ",".join(STATEMENTS)
            + "\none/first,one2001,holds as printed,1,1,0,0,0,paper"
            + "\none/both,one2001,only as released,2,1,1,0,0,paper"
            + "\none2001/conjecture,one2001,does not hold,1,0,1,0,0,ours"
            + "\ntwo/guess,two2002,cannot be told,1,0,0,0,1,paper\n"
        )
        self.write_ledger(CLAIMS)
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
        own = {"name": name, "kind": kind, "data": "simulated", "files": files, "private_policies": []}
        return own | texts | values

    def paper(self, key, artifacts, **values):
        readings = [
            {"text": f"An open choice of {key}", "source": "not stated in the paper"},
            {"text": f"A reading of {key}", "source": "Section 5"},
        ]
        texts = {"title": f"On {key}", "authors": "A. First and B. Second", "year": 2001, "venue": "Venue"}
        return {"key": key, **texts, "readings": readings, "artifacts": artifacts} | values

    def write_ledger(self, rows, columns=LEDGER_COLUMNS):
        pd.DataFrame(rows, columns=list(columns)).to_csv(self.ledger, index=False)

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


def test_every_artifact_and_every_claim_stands_there_once(world):
    page = world.build()
    ids = page.ids()
    assert [name for name, times in ids.items() if times != 1] == []
    artifacts = {"one2001/fig1", "one2001/table1", "two2002/fig1"}
    claims = {"claim-one/first", "claim-one/both", "claim-one/both-as_released", "claim-two/guess"}
    statements = {"statement-one/first", "statement-one/both", "statement-two/guess"}
    readings = {f"{key}/reading{end}" for key in ("one2001", "two2002") for end in ("s", "-1", "-2")}
    assert {name for name in ids if "/" in name} == artifacts | claims | statements | readings
    for name in ("one2001 fig1", "one2001 table1", "two2002 fig1"):
        assert page.text.count(f"Caption of {name}") == 1
    # Each statement is in its card, and each claim in the ledger.
    assert page.text.count(STATEMENT) == len(statements) + len(CLAIMS)
    assert page.text.count("The note of the printed variant.") == 1
    for key in ("one2001", "two2002"):
        assert page.text.count(f"An open choice of {key}") == page.text.count(f"A reading of {key}") == 1


def test_what_is_written_in_the_inputs_stays_text(world):
    page = world.build()
    assert "<script>alert" not in page.source
    assert len(page.all("script")) == 2
    assert "<b>3</b>" in page.text
    assert "abc<1>" in page.text
    # No value can close an attribute.
    world.papers[0]["artifacts"][0]["title"] = STATEMENT
    assert any(attributes.get("alt") == STATEMENT for attributes in world.build().all("img"))


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
    assert {"claim-one/both", "claim-one/both-as_released", "one2001/table1"} <= set(inside)
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


def test_values_are_rounded_for_reading(world):
    page = world.build()
    assert "5.012" in page.text
    assert "5.0123456789" not in page.text
    assert "4.972 to 5.053" in page.text
    assert "100\u202f000" in page.text


def test_the_words_of_the_glossary_are_explained(world):
    world.build()
    page = world.output.read_text(encoding="utf-8")
    assert "<dt>horizon</dt><dd>T, the number of rounds of a run</dd>" in page
    assert "<dt>word</dt>" not in page


def test_headlines_are_on_the_front_page_with_verdict_and_links(world):
    headline = {"headline": "It is {reproduced:.2f} (from {low:.1f}) & {published} is claimed."}
    world.papers[0]["claims"] = [{"claim": "first", "about": "first", "published": 5} | headline]
    row = CLAIMS[0] | {"claim": "one2001/first"}
    world.write_ledger([row, *CLAIMS[1:]])
    page = world.build()
    assert page.text.count("It is 5.01 (from 5.0) & 5 is claimed.") == 1
    (item,) = re.findall(r'<li class="headline">.*?</li>', page.source, re.DOTALL)
    assert ">reproduced<" in item
    assert re.findall(r'href="(#[^"]*)"', item) == ["#claim-one2001/first", "#one2001/fig1"]
    # The headline is true with every verdict. Without a verdict there is no headline.
    world.write_ledger([row | {"verdict": "differs"}, *CLAIMS[1:]])
    assert "It is 5.01" in world.build().text
    for unverifiable in ({"data": "stand-in"}, {"reproduced": "", "low": "-inf", "high": "inf"}):
        world.write_ledger([row | {"verdict": "unverifiable"} | unverifiable, *CLAIMS[1:]])
        page = world.build()
        assert "It is" not in page.text
        assert "No headline has a number in this run." in page.text


def without(name):
    return [column for column in LEDGER_COLUMNS if column != name]


@pytest.mark.parametrize("columns", [without("se"), LEDGER_COLUMNS[::-1]])
def test_a_ledger_with_other_columns_is_refused(world, columns):
    world.write_ledger(CLAIMS, columns)
    with pytest.raises(PrivarmsError, match=r"ledger\.csv: expected the columns") as error:
        world.build()
    assert ", ".join(LEDGER_COLUMNS) in str(error.value)
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
    world.papers[0]["artifacts"][0]["private_policies"] = ["dp_se"]
    world.write_audits(("Leaky", "not private as claimed", {"subject": "dp_se", "variant": ""}))
    warning = "not private as claimed: DP-SE"
    assert warning in world.build().text
    world.papers[0]["artifacts"][0]["private_policies"] = ["dp_ucb"]
    assert warning not in world.build().text


def test_the_badges_of_a_card_have_the_sum_of_its_statements(world):
    """Our own question is no statement of the paper, neither in the badges nor in the fold."""
    world.write_ledger([*CLAIMS, claim("one2001/conjecture", verdict="differs"), claim("one/third")])
    world.statements.write_text(world.statements.read_text() + "one/third,one2001,does not hold,1,0,1,0,0,paper\n")
    source = re.search(r'<article class="card" id="one2001/fig1">.*?</article>', world.build().source, re.DOTALL)[0]
    tags = re.search(r'<p class="tags">(.*?)</p>', source, re.DOTALL)[1]
    badges = [int(n) for n in re.findall(r"</span> (\d+) [a-z ]+</span>", tags)]
    assert "3 statements and 1 question of our own, with the measured values" in source
    assert sum(badges) == 3
    assert '<span class="tag">1 question of our own</span>' in tags
