"""The page that people read: whole, safe, self-contained, the same each time."""

import base64
import csv
import io
import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from PIL import Image

from privarms.claims.ledger import COLUMNS as LEDGER_COLUMNS
from privarms.claims.ledger import OUTCOMES, STATEMENTS
from privarms.errors import PrivarmsError
from privarms.report import cards, pictures
from privarms.report import page as report
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
    {"name": "adult", "status": "stand-in", "message": "adult.data could not be had"},
    {"name": "taxi", "status": "real", "message": "31,694 trips"},
]


class Page(HTMLParser):
    """What a browser makes of the page: elements with their attributes, and the text outside script and style."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text, self.open = [], "", []
        self.source = text
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text += data

    def all(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]

    def ids(self):
        return Counter(attributes["id"] for _, attributes in self.elements if "id" in attributes)


class World:
    """A results folder with two papers and their ledger, and the page made of it."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.output = folder / "report.html"
        self.ledger = folder / "ledger.csv"
        self.statements = folder / "statements.csv"
        self.arguments = {"scale": "quick", "revision": "abc<1>", "datasets": DATASETS, "ledger": self.ledger}
        self.arguments["statements"] = self.statements
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
            self.paper("one2001", [figure, table], url="https://example.org/one?a=1&b=2"),
            self.paper("two2002", [other], authors=["C. Third", "D. Fourth"]),
        ]

    def artifact(self, paper, name, kind, suffixes, **values):
        room = self.folder / f"{kind}s" / paper
        room.mkdir(parents=True, exist_ok=True)
        files = {suffix: room / f"{name}.{suffix}" for suffix in suffixes}
        for path in files.values():
            path.write_text("column\n1\n")
        texts = {"title": f"Title of {paper} {name}", "caption": f"Caption of {paper} {name}"}
        return {
            "name": name,
            "kind": kind,
            **texts,
            "settings": {"regret": [("horizon T", "5e7")]},
            "data": "simulated",
            "files": files,
        } | values

    def paper(self, key, artifacts, **values):
        readings = [
            {"text": f"An open choice of {key}", "source": "not stated in the paper"},
            {"text": f"A reading of {key}", "source": "Section 5"},
        ]
        texts = {"title": f"On {key}", "authors": "A. First and B. Second", "year": 2001, "venue": "Venue"}
        return {"key": key, **texts, "readings": readings, "artifacts": artifacts} | values

    def write_ledger(self, rows, columns=LEDGER_COLUMNS):
        with open(self.ledger, "w", newline="") as file:
            writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)

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
    # A name of an artifact is said as readers know it.
    for name in ("one2001 Figure 1", "one2001 Table 1", "two2002 Figure 1"):
        assert page.text.count(f"Caption of {name}") == 1
    # Each statement in its card, each claim in the ledger, and a link from another card about which a claim is too.
    assert page.text.count(STATEMENT) == len(statements) + len(CLAIMS) + 1
    assert page.text.count("The note of the printed variant.") == 1
    for key in ("one2001", "two2002"):
        assert page.text.count(f"An open choice of {key}") == page.text.count(f"A reading of {key}") == 1


def test_what_is_written_in_the_inputs_stays_text(world):
    page = world.build()
    assert "<script>alert" not in page.source
    assert len(page.all("script")) == 2
    assert "<b>3</b>" in page.text
    assert "abc<1>" in page.text
    # An attribute is closed by nothing that stands in a value.
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
    assert [a["href"] for a in page.all("a") if a["href"].startswith("http")] == ["https://example.org/one?a=1&b=2"]
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_links_lead_to_files_beside_the_page_and_to_places_on_it(world):
    page = world.build()
    ids = page.ids()
    targets = [unquote(attributes["href"]) for attributes in page.all("a")]
    # What stands behind a question mark is a filter of the ledger.
    inside = [target[1:].partition("?")[0] for target in targets if target.startswith("#")]
    beside = [target for target in targets if not target.startswith(("#", "https:"))]
    assert set(inside) - set(ids) == {"everything"}
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


def test_images_are_embedded(world):
    first, second = world.build().all("img")
    assert first["src"].startswith("data:image/webp;base64,")
    # 3.4 and 6.8 inches at 96 CSS pixels an inch, enlarged alike
    assert round(680 / 200 * 96 * pictures.SCREEN_ENLARGEMENT) == int(first["width"])
    assert abs(int(second["width"]) - 2 * int(first["width"])) <= 1


def test_a_colour_of_few_dots_stays_what_it_is(tmp_path):
    drawn = Image.new("RGB", (200, 200), "white")
    # Many shades of a band, as the smoothed edges of letters make them, and a small mark.
    for x in range(200):
        for y in range(100):
            drawn.putpixel((x, y), (150 + x // 2, 140 + y, 160 + (x + y) // 4))
    orange = (213, 94, 0)
    drawn.paste(orange, (90, 150, 96, 156))
    drawn.save(tmp_path / "drawn.png")
    coded = pictures.embedded({"png": tmp_path / "drawn.png"})["uri"].partition(",")[2]
    shown = Image.open(io.BytesIO(base64.b64decode(coded))).convert("RGB")
    assert all(abs(a - b) <= 2 for a, b in zip(shown.getpixel((93, 153)), orange, strict=True))


@pytest.mark.parametrize(("name", "most"), [("table1", cards.ROWS_SHOWN), ("own", cards.OWN_ROWS_SHOWN)])
def test_a_long_table_is_cut_and_says_so(world, name, most):
    table = world.papers[0]["artifacts"][1] | {"name": name}
    world.papers[0]["artifacts"][1] = table
    page = world.build()
    assert f"The first {most} of 1\u202f234 rows" in page.text
    assert f"<b>{most - 1}</b>" in page.text
    assert f"<b>{most}</b>" not in page.text
    table["files"]["csv"].write_text("name,n\n" + "<b>1</b>,1\n" * most)
    assert "The first" not in world.build().text


def test_a_table_that_is_not_too_long_is_there_whole_and_unfolds(world):
    table = world.papers[0]["artifacts"][1]
    n = cards.ROWS_UNFOLDED
    table["files"]["csv"].write_text("name,n\n" + "".join(f"row{i}.,{i}\n" for i in range(n)))
    page = world.build()
    assert f"The other {n - cards.ROWS_SHOWN} of {n} rows" in page.text
    assert [page.text.count(f"row{i}.") for i in range(n)] == [1] * n


def test_a_table_of_sentences_is_a_list_by_what_they_are_about(world):
    table = world.papers[0]["artifacts"][1]
    lines = [f"{'bias' if i % 2 else 'regret'},holds,Sentence {i} is said.,Statement {i}.\n" for i in range(100)]
    table["files"]["csv"].write_text("about,verdict,sentence,statement\n" + "".join(lines))
    page = world.build()
    assert [page.text.count(f"Sentence {i} is said.") for i in range(100)] == [1] * 100
    assert page.text.index("Sentence 98 is") < page.text.index("Sentence 1 is")
    # What the verdict is about stands beside it, and not beside the sentence alone.
    assert "Sentence 7 is said. Put to the test, in all settings at once: Statement 7. holds" in " ".join(
        page.text.split()
    )
    assert page.text.index("Regret\n") < page.text.index("Sentence 0 is") < page.text.index("Bias\n")


def test_a_published_table_has_its_verdicts_number_by_number(world):
    places = {"first": ("Row <1>", "Left"), "both": ("Row 2", "Left"), "third": ("Row 2", "Right")}
    places |= {"fourth": ("Row 3", "Left")}
    verdicts = {"first": "reproduced", "both": "differs", "third": "unverifiable", "fourth": "unverifiable"}
    rows = [
        claim(f"one2001/{name}", paper="one2001", verdict=verdicts[name], published=f"{n}.5")
        for n, name in enumerate(places)
    ]
    for row in rows[2:]:
        row |= {"reproduced": "", "low": "", "high": ""}
    world.write_ledger(rows)
    world.papers[0]["claims"] = [
        {"claim": name, "about": name, "artifact": "fig1", "published": 1, "row": row, "column": column}
        | {"because": f"A reason for {name}."}
        for name, (row, column) in places.items()
    ]
    page = world.build()
    # Of those that differ, and how many they are.
    assert "Why 1 differs: A reason for both." in " ".join(page.text.split())
    assert "reason for first" not in page.text
    assert "4 numbers, which are 4 of the 4 statements of this card:" in " ".join(page.text.split())
    # What nobody measured is folded.
    assert sum(a.get("class") == "numbers grid" for a in page.all("table")) == 2
    assert "1 other row, of which nothing was measured" in page.text
    start = page.source.index('<table class="numbers grid">')
    said = " ".join(Page(page.source[start : page.source.index("</table>", start)]).text.split())
    assert said == "LeftRight Row <1>reproduced: 0.5, 5.012 Row 2differs: 1.5, 5.012unverifiable: 2.5"
    links = [unquote(a["href"]) for a in page.all("a")]
    assert links.count("#claim-one2001/third") >= 2


def test_claims_are_found_by_the_epsilon_at_which_they_are_measured(world):
    settings = {
        "first": {"arguments": {"epsilon": 1}},
        "second": {"over": [{"epsilon": [0.25], "K": [5]}, {"epsilon": [0.25]}]},
        "third": {"over": {"epsilon": [1, 10]}},
        "fourth": {"arguments": {"epsilon": "0.5 to 8"}},
        "fifth": {},
    }
    written = {"fifth": {"statement": "Something at epsilon = .5.", "note": "Largest at epsilon = 2."}}
    world.write_ledger([claim(f"one2001/{n}", paper="one2001", **written.get(n, {})) for n in settings])
    world.papers[0]["claims"] = [
        {"claim": name, "about": name, "artifact": "fig1", "published": 1} | own for name, own in settings.items()
    ]
    page = world.build()
    rows = [a["data-epsilon"] for a in page.all("tr") if "data-epsilon" in a]
    assert rows == ["1", "0.25", "1 10", "-", "0.5 2"]
    start = page.source.index('<select name="epsilon">')
    offered = Page(page.source[start : page.source.index("</select>", start)]).text
    assert offered == "any0.250.51210none that is stated"


def test_names_for_programs_are_words(world):
    figure, table = world.papers[0]["artifacts"]
    table["files"]["csv"].write_text("method,holds_in,mean_reward_se\ndp_se,470000.4,1\nother,476643,2\n")
    figure["caption"] = "Where `holds_in` is; dp_se as_printed, c_e and table1 and https://example.org/dp_se."
    world.papers[0] |= {"policies": {"dp_se": "DP-SE"}, "columns": {"holds_in": "surely holds in"}}
    page = world.build()
    assert "Where surely holds in is; DP-SE as printed, c_e and Table 1 and https://example.org/dp_se." in page.text
    assert "#one2001/table1" in [unquote(a["href"]) for a in page.all("figcaption", "a") if "href" in a]
    assert "mean reward, standard error" in page.text
    assert "470\u202f000" in page.text
    assert "470000" not in page.text
    assert "e+05" not in page.text


def test_quick_results_are_not_taken_for_published_ones(world):
    assert "Fewer runs and shorter horizons than published" in world.build(scale="quick").text
    assert "Fewer runs" not in world.build(scale="paper").text


def test_a_stand_in_says_so_on_its_card_its_paper_and_in_the_ledger(world):
    # The line of missing data, the paper, the card's badge and stripe, the claim, the ledger's filter, the data sets.
    page = world.build()
    assert page.text.lower().count("synthetic stand-in") == 7
    world.papers.pop()
    world.write_ledger(CLAIMS[:3])
    assert world.build(datasets=DATASETS[1:]).text.lower().count("stand-in") == 1


def test_claims_are_counted_by_verdict_and_lead_to_the_ledger(world):
    page = world.build()
    said = " ".join(page.text.split())
    assert "all 4 claims by verdict: 2 reproduced, 1 differs, 1 unverifiable." in said
    links = [a["href"] for a in page.all("a")]
    assert {f"#ledger?verdict={word}" for word in ("reproduced", "differs", "unverifiable")} <= set(links)
    assert "#ledger?verdict=inconclusive" not in links


def test_what_is_to_be_done_about_missing_data_stands_once_and_can_be_copied(world):
    files = [
        {"path": "data/raw/a/a.csv", "mirrored": "a/a.csv", "url": "https://a.org/q?x>='1 2'", "by_hand": ""}
        | {"sha256": "ab" * 32, "rows": 0},
        {"path": "data/raw/a/b.csv", "mirrored": "a/b.csv", "url": "", "by_hand": "fetch https://b.org/b, unpack it"}
        | {"sha256": "", "rows": 1234},
    ]
    message = "The raw data of a are not there. Put in place data/raw/a/a.csv."
    dataset = {"name": "a", "title": "All of a", "status": "missing", "message": message, "files": files}
    world.write_ledger([*CLAIMS[:3], CLAIMS[3] | {"note": message}])
    page = world.build(datasets=[dataset])
    said = " ".join(page.text.split())
    assert message not in said
    assert "The raw data of a are not there." in said
    assert "All of a" in said
    for words in ("data/raw/a/a.csv", "ab" * 32, "1,234 rows", "PRIVARMS_MIRROR=", "run the same command again"):
        assert words in said
    links = {a["href"] for a in page.all("a")}
    assert {"https://a.org/q?x%3E=%271%202%27", "https://b.org/b", "#data"} <= links
    assert "1 claims open); of the statements of which nothing can be told, 1 wait for it." in said


def test_the_page_leads_with_counts_that_open_the_ledger(world):
    page = world.build()
    counts = re.findall(
        r"(\d+) +(holds as printed|only as released|holds as released|does not hold|cannot be told)", page.text
    )
    # What is ours is not counted; of a paper the counts that are not 0 are shown.
    assert counts[: len(OUTCOMES)] == list(zip("11001", OUTCOMES, strict=True))
    one, two = [("1", OUTCOMES[0]), ("1", OUTCOMES[1])], [("1", OUTCOMES[4])]
    assert counts[len(OUTCOMES) : len(OUTCOMES) + 3] == one + two
    links = [unquote(a["href"]) for a in page.all("a")]
    assert "#ledger?outcome=only as released&whose=paper" in links
    assert "#ledger?paper=one2001&outcome=only as released&whose=paper" in links


def test_our_own_questions_are_not_among_a_card_s_counts(world):
    def of_cards():
        links = [unquote(a["href"]) for a in world.build().all("a")]
        return [link for link in links if "&where=" in link and "outcome=holds as printed" in link], links

    counted, links = of_cards()
    assert counted
    assert all("&whose=paper" in link for link in counted)
    assert "#ledger?whose=ours" not in links
    text = world.statements.read_text(encoding="utf-8")
    world.statements.write_text(text.replace("1,1,0,0,0,paper", "1,1,0,0,0,ours"), encoding="utf-8")
    counted, links = of_cards()
    assert counted == []
    assert "#ledger?whose=ours" in links


def test_values_are_rounded_for_reading(world):
    page = world.build()
    assert "5.012" in page.text
    assert "5.0123456789" not in page.text
    assert "4.972 to 5.053" in page.text
    assert "100\u202f000" in page.text


def test_artifacts_of_a_card_stand_in_its_tabs(world):
    figure, table = world.papers[0]["artifacts"]
    other = world.artifact("one2001", "fig1_second", "figure", ("png", "csv"))
    Image.new("RGB", (680, 480)).save(other["files"]["png"])
    for artifact, tab in ((figure, "First"), (other, "First"), (table, "As a table")):
        artifact |= {"card": "Figure 1: both", "tab": tab}
    world.papers[0]["artifacts"] = [figure, table, other]
    page = world.build()
    tabs = [a["data-tab"] for a in page.all("div") if "data-tab" in a]
    assert tabs[:2] == ["First", "As a table"]
    assert [a["data-tabs"] for a in page.all("div") if "data-tabs" in a] == ["Figure 1: both"]
    # The card has the address of its first artifact, the others their own.
    assert {"one2001/fig1", "one2001/fig1_second", "one2001/table1"} <= set(page.ids())
    assert sum(a.get("class") == "card" for a in page.all("article")) == 2


def test_readings_stand_beside_what_they_affect(world):
    world.papers[0]["readings"][0]["affects"] = ["table1"]
    page = world.build()
    # In the card and in the paper's list, which leads to the card.
    assert page.text.count("An open choice of one2001") == 2
    assert "Affects Table 1" in " ".join(page.text.split()) or "Affects Title of one2001 table1" in page.text


def test_an_open_choice_is_seen_says_what_another_one_gives_and_leads_to_its_place(world):
    world.papers[0]["readings"] = [
        {
            "text": "We chose it.",
            "source": "not stated in the paper",
            "affects": ["table1", "fig1"],
            "tried": ["first"],
        },
        {"text": "It says so.", "source": "Section 5", "affects": ["table1", "fig1"]},
    ]
    world.write_ledger([row | {"claim": row["claim"].replace("one/", "one2001/")} for row in CLAIMS])
    page = world.build()
    said = " ".join(page.text.split())
    assert said.count("We chose it.") == 3
    assert said.count("What one choice or another gives: ") == 3
    # The one is open, the other one folded.
    assert [("open" in a) for a in page.all("details") if a.get("class") == "fold chosen"] == [True, True]
    assert said.index("Not stated in the paper, and chosen here (1)") < said.index("1 other reading on which it rests")
    links = [unquote(a["href"]) for a in page.all("a")]
    assert {"#one2001/reading-1", "#one2001/reading-2"} <= set(links)
    assert links.count("#claim-one2001/first") >= 3
    # Many are folded.
    world.papers[0]["readings"] *= report.FEW + 1
    assert [("open" in a) for a in world.build().all("details") if a.get("class") == "fold chosen"] == [False, False]


@pytest.mark.parametrize(
    ("statement", "case", "named"),
    [
        ("It grows.", "", "It grows"),
        ("It grows.", "c = 2", "It grows (c = 2)"),
        ("It grows.", "It does not.", "It does not."),
        ("It " * 100, "c = 64", "It " * 39 + "… (c = 64)"),
    ],
)
def test_a_claim_beside_a_reading_is_short_and_told_from_others(statement, case, named):
    assert report._named(statement, case) == named


def test_findings_stand_on_the_front_page(world):
    world.papers[0]["findings"] = {
        "one": {
            "shows": "fig1",
            "reads": {"both": {"claim": "first"}},
            "says": [
                {"when": {"both.verdict": "differs"}, "text": "It differs."},
                {"when": {"both.verdict": "reproduced"}, "text": "It is {both.reproduced:.2f} & holds."},
            ],
        }
    }
    rows = [row | {"claim": row["claim"].replace("one/", "one2001/")} for row in CLAIMS]
    world.write_ledger(rows)
    page = world.build()
    assert page.text.count("It is 5.01 & holds.") == 2
    assert page.text.index("It is 5.01") < page.text.index("On one2001") + 2000
    world.write_ledger([row | {"verdict": "inconclusive"} if row["verdict"] == "reproduced" else row for row in rows])
    assert "It is 5.01" not in world.build().text


def test_what_quick_measured_small_is_called_so_and_leads_to_the_verdict(world, tmp_path):
    small = claim("one/first", verdict="unverifiable", note="Scale quick is smaller.")
    settings = {"claim": "first", "about": "first", "published": 5, "tolerance": {"at_least": 4}}
    world.write_ledger([small | {"claim": "one2001/first"}, *CLAIMS[1:]])
    world.papers[0]["claims"] = [settings]
    said = world.build(scale="quick").text
    assert "measured small" in said
    assert "measured small" not in world.build(scale="paper").text
    # A claim whose setting does not shrink is judged as it is.
    world.papers[0]["claims"] = [settings | {"published_size": False}]
    assert "measured small: " not in world.build(scale="quick").text
    world.papers[0]["claims"] = [settings]
    wide = tmp_path / "paper" / "ledger.csv"
    wide.parent.mkdir()
    written = world.ledger.read_text()
    world.write_ledger([small | {"claim": "one2001/first", "verdict": "reproduced"}])
    wide.write_text(world.ledger.read_text())
    world.ledger.write_text(written)
    page = world.build(scale="quick", at_paper_scale=wide)
    assert "scale paper: reproduced" in page.text
    assert any(unquote(a["href"]) == "../paper/report.html#claim-one2001/first" for a in page.all("a"))


def without(name):
    return [column for column in LEDGER_COLUMNS if column != name]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (without("se"), "missing: se"),
        ([*LEDGER_COLUMNS, "colour"], "not expected: colour"),
        (
            ["verdikt" if name == "verdict" else name for name in LEDGER_COLUMNS],
            "missing: verdict; not expected: verdikt",
        ),
        (LEDGER_COLUMNS[::-1], "their order"),
    ],
)
def test_a_ledger_with_other_columns_is_refused(world, columns, words):
    world.write_ledger(CLAIMS, columns)
    with pytest.raises(PrivarmsError, match=rf"ledger\.csv: wrong columns \({words}") as error:
        world.build()
    assert ", ".join(LEDGER_COLUMNS) in str(error.value)
    assert not world.output.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"verdict": "proved"},
            "column verdict: 'proved' is not one of reproduced, differs, inconcl",
        ),
        ({"verdict": ""}, "column verdict: ''"),
        ({"data": "invented"}, "column data: 'invented' is not one of simulated, real, stand-in"),
        ({"paper": "three2003"}, "column paper: 'three2003' is not one of one2001, two2002"),
        ({"claim": "two words"}, "column claim: expected a name without white space"),
        ({"claim": ""}, "column claim"),
        ({"claim": "one/first"}, "column claim: 'one/first' stands twice"),
        ({"data": "stand-in"}, "column verdict: claim 'new' rests on a synthetic stand-in"),
    ],
)
def test_a_claim_that_makes_no_sense_is_refused_with_its_line(world, change, words):
    world.write_ledger([*CLAIMS, claim("new") | change])
    with pytest.raises(PrivarmsError, match=rf"ledger\.csv: line 6, {words}"):
        world.build()
    assert not world.output.exists()


@pytest.mark.parametrize(
    ("text", "words"), [("", "is empty"), (",".join(LEDGER_COLUMNS) + "\na,b\n", "line 2 has 2 fields")]
)
def test_a_broken_ledger_is_refused(world, text, words):
    world.ledger.write_text(text)
    with pytest.raises(PrivarmsError, match=rf"ledger\.csv.*{words}"):
        world.build()


def test_files_that_are_not_there_are_named(world):
    world.papers[0]["artifacts"][0]["files"]["pdf"].unlink()
    with pytest.raises(PrivarmsError, match=r"fig1\.pdf.*one2001/fig1"):
        world.build()
    world.ledger.unlink()
    with pytest.raises(PrivarmsError, match=r"ledger\.csv"):
        world.build()


def test_an_image_that_is_none_is_refused(world):
    world.papers[0]["artifacts"][0]["files"]["png"].write_text("nothing")
    with pytest.raises(PrivarmsError, match=r"fig1\.png: not a PNG"):
        world.build()


def test_an_artifact_that_was_not_made_says_why(world):
    world.papers[0]["artifacts"][0] |= {"files": {}, "reason": "taxi.csv is missing"}
    page = world.build()
    assert "was not made. taxi.csv is missing" in page.text
    assert page.ids()["one2001/fig1"] == 1


def test_an_address_of_a_paper_is_one_of_the_web(world):
    world.papers[0]["url"] = "javascript:alert(1)"
    with pytest.raises(ValueError, match="url"):
        world.build()


def test_a_page_that_cannot_be_written_says_so(world):
    (world.folder / "file").write_text("")
    world.output = world.folder / "file" / "report.html"
    with pytest.raises(PrivarmsError, match=r"file/report\.html"):
        world.build()


def test_a_page_of_questions_of_our_own_counts_them(world):
    text = world.statements.read_text(encoding="utf-8")
    world.statements.write_text(text.replace("0,0,paper", "0,0,ours"), encoding="utf-8")
    page = world.build()
    # On the front page, and on the paper's own.
    assert page.text.count("No paper's statement: 3 claims of our own, 2 reproduced, 1 differs.") == 2
    assert "#ledger?paper=one2001" in [unquote(a["href"]) for a in page.all("a")]


def test_an_empty_ledger_makes_a_page(world):
    world.write_ledger([])
    page = world.build(datasets=[])
    assert "The ledger is empty." in page.text
    assert page.text.count("No statement of its own stands in the ledger.") == 5


@pytest.fixture
def audits(world):
    """audits(*lines): the files of all audits; a line is a name, a verdict and what is changed of it."""
    first = {"claimed_epsilon": "1.0", "exact": "1.5", "lower_bound": "1.38", "level": "0.9967", "trials": "200000"}
    first |= {"power_against_half_noise": "", "broken_twin_lower_bound": "", "note": "", "setting": "K = 2"}

    def write(*lines):
        files = {suffix: world.folder / f"audit_losses.{suffix}" for suffix in ("csv", "pdf", "png", "svg")}
        files["table"] = world.folder / "audit.csv"
        for file in files.values():
            file.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
        Image.new("RGB", (1360, 900)).save(files["png"])
        rows = [
            first | {"name": name, "subject": "p_1", "verdict": verdict, "settings": "1"} | changed
            for name, verdict, changed in lines
        ]
        with files["csv"].open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, report.AUDIT_COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        return files

    return write


def test_the_audits_have_a_section_that_names_what_is_not_private(world, audits):
    kept = {
        "exact": "",
        "lower_bound": "0.91",
        "broken_twin_lower_bound": "1.8",
        "settings": "3",
        "note": "The <twin>.",
    }
    files = audits(("Leaky <UCB>", "not private as claimed", {}), ("Tight", "private as claimed", kept))
    page = world.build(audits=files)
    said = " ".join(page.text.split())
    assert "1 of 2 is not private as claimed: Leaky <UCB>." in said
    assert "1 shows no more than is claimed where the same audit catches a broken twin." in said
    assert "K = 2; one of 3 settings. The <twin>." in said
    # No audit proves privacy: readers are not told that it does.
    assert "no excess shown" in said
    assert said.count("private as claimed") == said.count("not private as claimed") + 1
    assert {"audit.csv", "audit_losses.pdf"} <= {a.get("href") for tag, a in page.elements if tag == "a"}
    assert page.ids()["audits"] == 1
    none = " ".join(world.build(audits=audits(("Tight", "private as claimed", kept))).text.split())
    assert "None of the 1 shows more than it claims." in none
    assert 'id="audits"' not in world.build().source


def test_a_broken_summary_of_audits_is_refused(world, audits):
    files = audits(("Tight", "perhaps private", {}))
    with pytest.raises(PrivarmsError, match=r"audit_losses\.csv: expected the columns name, subject, verdict"):
        world.build(audits=files)
