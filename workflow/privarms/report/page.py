"""report.html: headlines, every artifact with what was measured next to what is published, and the whole ledger."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from privarms.audits.verdicts import NOT_AUDITED, NOT_CAUGHT, NOT_PRIVATE, PRIVATE
from privarms.claims.ledger import DATA, read
from privarms.data import STAND_IN
from privarms.errors import PrivarmsError
from privarms.files.whole import read_csv, write_text
from privarms.report import pictures, words
from privarms.report import statements as of_statements
from privarms.report.cards import NUMBERED, arranged, label, link, shown_artifact
from privarms.report.statements import SMALL, brief
from privarms.report.words import Names

DATA_WORDS = dict(zip(DATA, ("simulated", "real data", STAND_IN, "nothing measured"), strict=True))
# What an audit says looks like the verdict that it is nearest to.
AUDIT_LOOKS = {
    NOT_PRIVATE: "differs",
    PRIVATE: "reproduced",
    NOT_CAUGHT: "inconclusive",
    NOT_AUDITED: "unverifiable",
}
# No audit proves privacy.
AUDIT_SAID = {word: word for word in AUDIT_LOOKS} | {PRIVATE: "no excess shown"}
AUDIT_COLUMNS = (
    *("name", "subject", "verdict", "claimed_epsilon", "exact", "lower_bound", "level", "trials"),
    *("power_against_half_noise", "broken_twin_lower_bound", "note", "setting", "settings"),
)
# The source of a reading that is a choice of ours.
UNSTATED = "not stated in the paper"
# Up to as many open choices stand open beside what they affect, or folded.
FEW = 4
# Characters of a statement that stands beside a reading.
STATEMENT_SHOWN = 120


def build_report(
    output: Path,
    *,
    scale: str,
    revision: str,
    papers: list[Mapping],
    ledger: Path,
    statements: Path,
    datasets: list[Mapping],
    seed: int | None = None,
    at_paper_scale: Path | None = None,
    audits: Mapping[str, Path] | None = None,
) -> None:
    """Write `output`, whole or not at all; the same arguments and files give the same bytes.

    scale: "quick" or "paper". revision: of the program that made the results. seed: of their random streams.
    papers: {key, title, authors, year, venue, short?, url?, readings: [{text, source, affects?, tried?}], claims as
    `studies.claims.load` gives them, policies?: {name: what readers call it}, columns?: {name: what it holds},
    artifacts: [{name, kind: "figure" or "table", title, caption, card?, tab?, front?,
    settings: {study: [(name, text)]}, behind: [files], data: "simulated", "real" or "stand-in",
    files: {suffix: Path}}]}.
    A figure needs its png, a table its csv; an artifact whose `files` is empty was not made, and `reason` says why.
    Artifacts with the same `card` share one, in the tabs that they name.
    ledger, statements: CSV files as `ledger.write` and `write_statements` make them.
    datasets: {name, title?, status: "real", "stand-in" or "missing", message, files?: as `Datasets.described`}.
    at_paper_scale: the ledger of scale paper, for a report of scale quick; its report lies beside it.
    audits: the picture of all audits by suffix, whose csv has a line a mechanism or policy with AUDIT_COLUMNS, and
    under `table` the file with all of their rows; or None.
    Raises PrivarmsError for a ledger, audits or an artifact's file that is missing or malformed.
    """
    wide = {(row["claim"], row["variant"]): row["verdict"] for row in read(at_paper_scale)} if at_paper_scale else {}
    stated = of_statements.of_papers(ledger, statements, papers, scale, wide)
    folder = Path(output).parent
    audit_rows = read_audits(audits["csv"]) if audits else []
    claims = [claim for statement in stated for claim in statement["claims"]]
    missing = _missing(datasets, claims)
    waiting = sum(_waits(statement, missing) for statement in stated if not statement["ours"])
    names = {paper["key"]: _names(paper, stated) for paper in papers}
    _say(stated, names, missing)
    shown_papers = [_paper(paper, stated, folder, scale, names[paper["key"]]) for paper in papers]
    cards = {a["address"]: card for paper in shown_papers for card in paper["cards"] for a in card["artifacts"]}
    for claim in claims:
        card = cards.get(f"{claim['paper']}/{claim['artifact']}")
        claim["where"] = card["short"] if card else claim["artifact"].replace("_", " ")
        claim["address"] = f"{claim['paper']}/{claim['artifact']}" if card else ""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = environment.get_template("page.html.j2").render(
        scale=scale,
        revision=revision,
        seed=seed,
        papers=shown_papers,
        claims=claims,
        outcomes=of_statements.counts(stated),
        epsilons=sorted(
            {e for claim in claims for e in claim["epsilon"].split()} - {of_statements.NO_EPSILON}, key=float
        ),
        n_ours=sum(statement["ours"] for statement in stated),
        verdicts={word: sum(claim["shown"] == word for claim in claims) for word in of_statements.WORDS},
        outcome_looks=of_statements.OUTCOME_LOOKS,
        small=SMALL,
        few=FEW,
        n_papers=sum(bool(paper["printed"]) for paper in shown_papers),
        later=[paper for paper in shown_papers if not paper["printed"] and sum(paper["outcomes"].values())],
        fronts=[a for paper in shown_papers for a in paper["fronts"]],
        missing=missing,
        waiting=waiting,
        datasets=[
            {"title": "", "files": []} | one for one in (*missing, *(d for d in datasets if d["status"] == "real"))
        ],
        data_words=DATA_WORDS,
        ledger_link=link(ledger, folder),
        wide_link=link(Path(at_paper_scale).with_name("report.html"), folder) if at_paper_scale else "",
        n_wide=sum(bool(claim["at_paper_scale"]) for claim in claims),
        audits=audit_rows,
        audit_counts={word: sum(row["verdict"] == word for row in audit_rows) for word in AUDIT_LOOKS},
        audits_image=pictures.embedded(audits) if audits else None,
        audits_links={"all rows (CSV)": link(audits["table"], folder), "PDF": link(audits["pdf"], folder)}
        if audits
        else {},
        audit_looks=AUDIT_LOOKS,
        audit_said=AUDIT_SAID,
        style=Markup(loader.get_source(environment, "page.css")[0]),
        script=Markup(loader.get_source(environment, "page.js")[0]),
    )
    # What indents the template says nothing, three hundred kilobytes of it.
    write_text(output, re.sub(r"\n\s+", "\n", page))


def read_audits(path: Path) -> list[dict[str, str]]:
    """The lines of a summary of audits, as texts. Raises PrivarmsError for other columns and verdicts."""
    header, lines = read_csv(Path(path))
    rows = [dict(zip(header, cells, strict=True)) for cells in lines]
    known = set(AUDIT_COLUMNS) <= set(header) and all(row["verdict"] in AUDIT_LOOKS for row in rows)
    if not known:
        raise PrivarmsError(f"{path}: expected the columns {', '.join(AUDIT_COLUMNS)}; delete it, and it is made again")
    digits = {"claimed_epsilon": 4, "exact": 4, "lower_bound": 4, "level": 5, "trials": 9}
    digits |= {"power_against_half_noise": 3, "broken_twin_lower_bound": 4}
    return [
        row | {"setting": words.setting(row["setting"])} | {name: brief(row[name], n) for name, n in digits.items()}
        for row in rows
    ]


def _names(paper: Mapping, stated: Sequence[dict]) -> Names:
    """What the names in a paper's texts mean: its policies, its artifacts, and its claims, which have addresses."""
    key = paper["key"]
    known = {name: (label, "") for name, label in paper.get("policies", {}).items()}
    for statement in stated:
        for claim in statement["claims"] if statement["paper"] == key else ():
            # A name of one word may be a word.
            if "_" in claim["short"]:
                known.setdefault(claim["short"], (claim["short"].replace("_", " "), claim["anchor"]))
    for artifact in paper["artifacts"]:
        name = artifact["name"]
        if "_" in name or NUMBERED.match(name):
            known[name] = (label(name) or f"“{artifact['title']}”", f"{key}/{name}")
    return Names(known, paper.get("columns"))


def _say(stated: Iterable[dict], names: Mapping[str, Names], missing: Sequence[Mapping]) -> None:
    """Put what readers are shown into the statements: `said` and `why` have links, `plain` and `test` have none."""
    for statement in stated:
        own = names[statement["paper"]]
        statement["said"] = own.linked(statement["text"])
        for one in (statement, *statement["claims"]):
            one["plain"] = own.plain(statement["text"])
        for claim in statement["claims"]:
            claim["test"] = own.plain(claim["test"])
            claim["headline"] = own.plain(claim["headline"])
            claim["why"] = _without_messages(claim["note"], missing, own)
            claim["named"] = _named(statement["plain"], claim["test"])


def _named(statement: str, test: str) -> str:
    """Return a claim's statement, cut where it is long, and its test, whole."""
    short = shorten(statement, STATEMENT_SHOWN, placeholder=" …").removesuffix(".")
    return f"{short} ({test.removesuffix('.')})" if test else short


def _without_messages(text: str, missing: Sequence[Mapping], names: Names) -> Markup:
    """The text, in which what is to be done about missing data stands once on the page, and here a link to it."""
    absent = [dataset for dataset in missing if dataset["message"] and dataset["message"] in text]
    for dataset in absent:
        text = text.replace(dataset["message"], f"\0{dataset['name']}\0")
    said = names.linked(text)
    for dataset in absent:
        link = Markup('The raw data of {} <a href="#data">are not there</a>.').format(dataset["name"])
        said = said.replace(f"\0{dataset['name']}\0", link)
    return said


def _paper(paper: Mapping, stated: list[dict], folder: Path, scale: str, names: Names) -> dict:
    key = paper["key"]
    own = [statement for statement in stated if statement["paper"] == key]
    readings = [_reading(paper, number, reading, own, names) for number, reading in enumerate(paper["readings"], 1)]
    artifacts = [shown_artifact(paper, one, readings, folder, scale, names) for one in paper["artifacts"]]
    cards = arranged(artifacts, own)
    card_of = {artifact["name"]: card for card in cards for artifact in card["artifacts"]}
    for statement in own:
        statement["homeless"] = statement["artifact"] not in card_of
    url = paper.get("url") or ""
    if url and not url.startswith(("https://", "http://")):
        raise ValueError(f"{key}: url must start with https:// or http://, got {url!r}")
    authors = paper["authors"]
    for reading in readings:
        reading["cards"] = list({card_of[name]["id"]: card_of[name] for name in reading["affects"]}.values())
    return {
        **{name: paper[name] for name in ("key", "title", "year", "venue")},
        "short": paper.get("short") or key,
        "url": url,
        "authors": authors if isinstance(authors, str) else ", ".join(authors),
        "readings": readings,
        "headlines": [claim for statement in own for claim in statement["claims"] if claim["headline"]],
        "cards": cards,
        "printed": [card for card in cards if card["printed"]],
        "beyond": [card for card in cards if not card["printed"]],
        "fronts": [artifact for artifact in artifacts if artifact["front"]],
        "homeless": [statement for statement in own if statement["homeless"]],
        "outcomes": of_statements.counts(own),
        "n_claims": sum(len(statement["claims"]) for statement in own),
        "verdicts": Counter(claim["shown"] for statement in own for claim in statement["claims"]),
        "stand_in": any(artifact["data"] == "stand-in" for artifact in artifacts),
    }


def _reading(paper: Mapping, number: int, reading: Mapping, own: Sequence[dict], names: Names) -> dict:
    """A reading with its address, and what was measured where another one was tried."""
    tried = reading.get("tried", [])
    claims = [claim for statement in own for claim in statement["claims"]]
    return {
        "text": names.linked(reading["text"]),
        "source": names.linked(reading["source"]),
        "open": UNSTATED in reading["source"],
        # Under a heading that says so it need not be said again.
        "unstated": reading["source"] == UNSTATED,
        "affects": reading.get("affects", []),
        "address": f"{paper['key']}/reading-{number}",
        "tried": [claim for name in tried for claim in claims if claim["short"] == name],
    }


def _missing(datasets: Sequence[Mapping], claims: Sequence[Mapping]) -> list[dict]:
    """The datasets that could not be had, and how many claims could not be measured in all."""
    lacking = [dict(dataset) for dataset in datasets if dataset["status"] != "real"]
    for dataset in lacking:
        dataset["files"] = [
            file | {"url": words.addressed(file["url"]), "by_hand": Names({}).linked(file["by_hand"])}
            for file in dataset.get("files", [])
        ]
        dataset["claims"] = sum(dataset["message"] != "" and dataset["message"] in claim["note"] for claim in claims)
    return lacking


def _waits(statement: Mapping, missing: Sequence[Mapping]) -> bool:
    """Whether a statement of which nothing can be told lacks data for one of its claims."""
    messages = [dataset["message"] for dataset in missing if dataset["message"]]
    open_claims = [claim for claim in statement["claims"] if any(text in claim["note"] for text in messages)]
    return bool(open_claims) and statement["outcome"] == "cannot be told"
