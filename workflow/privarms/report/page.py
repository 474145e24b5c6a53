"""report.html: what was found, every artifact with what was measured beside what is published, and the whole ledger."""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from textwrap import shorten
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from privarms.audits.verdicts import NOT_AUDITED, NOT_CAUGHT, NOT_PRIVATE, PRIVATE
from privarms.claims.ledger import DATA, read
from privarms.claims.verdict import Measured, Region
from privarms.data import STAND_IN
from privarms.errors import PrivarmsError
from privarms.files.whole import read_csv, write_text
from privarms.report import findings, interval, pictures, words
from privarms.report import statements as of_statements
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
AUDIT_LINKS = {"all rows (CSV)": "table", "PDF": "pdf"}

# Of a table that a paper prints; of our own, where the file is the place to read.
ROWS_SHOWN, OWN_ROWS_SHOWN = 40, 12
# Longer tables cannot be unfolded: the page would not be small enough to mail.
ROWS_UNFOLDED = 80
# What a table of sentences says of each looks like the verdict that it is nearest to.
SENTENCE_LOOKS = {"holds": "reproduced", "does not hold": "differs", "not decided": "inconclusive", "": "unverifiable"}
# The source of a reading that is a choice of ours.
UNSTATED = "not stated in the paper"
# A published figure or table is named by its number, `fig8a_symmetric`; ours by what they show.
NUMBERED = re.compile(r"(fig|table)(\d+)([a-z]?)(?:_|$)")
# Artifacts that are made ready at once.
SIDE_BY_SIDE = 4
# From as many a paper's statements are open in its cards, or folded.
MANY = 14
# Up to as many open choices stand open beside what they affect, or folded.
FEW = 4
# Characters of a statement that stands beside a reading.
STATEMENT_SHOWN = 120
# The four verdicts as drawings: what is allowed lies from 0 to 1.
EXAMPLES = {
    "reproduced": (0.3, 0.7),
    "differs": (1.25, 1.65),
    "inconclusive": (0.75, 1.25),
}

_LINK_ORDER = ("pdf", "svg", "png", "csv", "md", "tex")
LINK_WORDS = {"csv": "CSV", "md": "Markdown", "tex": "TeX"}


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
    papers: {key, title, authors, year, venue, short?, url?, readings: [{text, source, affects?, tried?}], claims and
    findings as the configuration has them, policies?: {name: what readers call it}, columns?: {name: what it holds},
    artifacts: [{name, kind: "figure"
    or "table", title, caption, card?, tab?, front?, settings: {study: [(name, text)]}, behind: [files], data:
    "simulated", "real" or "stand-in", files: {suffix: Path}}]}.
    A figure needs its png, a table its csv; an artifact whose `files` is empty was not made, and `reason` says why.
    Artifacts with the same `card` share one, in the tabs that they name.
    ledger, statements: CSV files as `ledger.write` and `write_statements` make them.
    datasets: {name, title?, status: "real", "stand-in" or "missing", message, files?: as `Datasets.described`}.
    at_paper_scale: the ledger of scale paper, for a report of scale quick; its report lies beside it.
    audits: the picture of all audits by suffix, whose csv has a line a mechanism or policy with AUDIT_COLUMNS, and
    under `table` the file with all of their rows; or None.
    Raises PrivarmsError for a ledger, findings, audits or an artifact's file that is missing or malformed,
    ValueError for the rest.
    """
    _one_of(scale, ("quick", "paper"), "scale")
    _refuse_repeats([paper["key"] for paper in papers], "paper")
    for dataset in datasets:
        _one_of(dataset["status"], ("real", "stand-in", "missing"), f"status of dataset {dataset['name']}")
    wide = {(row["claim"], row["variant"]): row["verdict"] for row in read(at_paper_scale)} if at_paper_scale else {}
    stated = of_statements.of_papers(ledger, statements, papers, scale, wide)
    folder = Path(output).parent
    audit_rows = read_audits(audits["csv"]) if audits else []
    every_audit = _rows(audits["table"]) if audits else []
    claims = [claim for statement in stated for claim in statement["claims"]]
    missing = _missing(datasets, claims)
    waiting = sum(_waits(statement, missing) for statement in stated if not statement["ours"])
    names = {paper["key"]: _names(paper, stated) for paper in papers}
    _say(stated, names, missing)
    shown_papers = [_paper(paper, stated, folder, every_audit, scale, names[paper["key"]]) for paper in papers]
    cards = {a["address"]: card for paper in shown_papers for card in paper["cards"] for a in card["artifacts"]}
    for claim in claims:
        card = cards.get(f"{claim['paper']}/{claim['artifact']}")
        claim["where"] = card["short"] if card else claim["artifact"].replace("_", " ")
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
        examples={word: _example(*ends) for word, ends in EXAMPLES.items()},
        data_words=DATA_WORDS,
        ledger_link=_link(Path(ledger), folder),
        wide_link=_link(Path(at_paper_scale).with_name("report.html"), folder) if at_paper_scale else "",
        n_wide=sum(bool(claim["at_paper_scale"]) for claim in claims),
        audits=audit_rows,
        audit_counts={word: sum(row["verdict"] == word for row in audit_rows) for word in AUDIT_LOOKS},
        audits_image=pictures.embedded(audits) if audits else None,
        audits_large=pictures.large(audits) if audits else None,
        audits_links={"all rows (CSV)": _link(audits["table"], folder), "PDF": _link(audits["pdf"], folder)}
        if audits
        else {},
        audit_looks=AUDIT_LOOKS,
        audit_said=AUDIT_SAID,
        sentence_looks=SENTENCE_LOOKS,
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
            known[name] = (_label(name) or f"“{artifact['title']}”", f"{key}/{name}")
    return Names(known, paper.get("columns"))


def _say(stated: Iterable[dict], names: Mapping[str, Names], missing: Sequence[Mapping]) -> None:
    """Put what readers are shown into the statements: `said` and `why` have links, `plain` and `case` have none."""
    for statement in stated:
        own = names[statement["paper"]]
        statement["said"] = own.linked(statement["text"])
        for one in (statement, *statement["claims"]):
            one["plain"] = own.plain(one.get("statement") or statement["text"])
        for claim in statement["claims"]:
            claim["case"] = own.plain(claim["case"])
            claim["why"] = _without_messages(claim["note"], missing, own)
            claim["named"] = _named(statement["plain"], claim["case"])


def _named(statement: str, case: str) -> str:
    """A claim's statement, cut where it is long, and its case, whole."""
    if case.endswith("."):
        return case
    short = shorten(statement, STATEMENT_SHOWN, placeholder=" …").removesuffix(".")
    return f"{short} ({case})" if case else short


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


def _paper(paper: Mapping, stated: list[dict], folder: Path, audits: list[dict], scale: str, names: Names) -> dict:
    key = paper["key"]
    own = [statement for statement in stated if statement["paper"] == key]
    _refuse_repeats([artifact["name"] for artifact in paper["artifacts"]], f"artifact of {key}")
    readings = [_reading(paper, number, reading, own, names) for number, reading in enumerate(paper["readings"], 1)]
    # The last job of a run, which has the cores to itself: its time goes into pictures, without the interpreter's lock.
    with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1)) as pool:
        show = partial(_artifact, paper, readings=readings, folder=folder, scale=scale, names=names)
        artifacts = list(pool.map(show, paper["artifacts"]))
    of_files = {artifact["name"]: artifact["files"] for artifact in paper["artifacts"]}
    cards = _cards(artifacts, own)
    card_of = {artifact["name"]: card for card in cards for artifact in card["artifacts"]}
    for statement in own:
        statement["homeless"] = statement["artifact"] not in card_of
    url = paper.get("url") or ""
    if url and not url.startswith(("https://", "http://")):
        raise ValueError(f"{key}: url must start with https:// or http://, got {url!r}")
    authors = paper["authors"]
    for reading in readings:
        reading["cards"] = _once(card_of[name] for name in reading["affects"])
    return {
        **{name: paper[name] for name in ("key", "title", "year", "venue")},
        "short": paper.get("short") or key,
        "url": url,
        "authors": authors if isinstance(authors, str) else ", ".join(authors),
        "readings": readings,
        "findings": _found(paper, own, {a["name"]: a for a in artifacts}, card_of, audits),
        "cards": cards,
        "printed": [card for card in cards if card["printed"]],
        "beyond": [card for card in cards if not card["printed"]],
        "fronts": [
            artifact | {"large": pictures.large(of_files[artifact["name"]])}
            for artifact in artifacts
            if artifact["front"]
        ],
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


def _once(cards: Iterable[dict]) -> list[dict]:
    return list({card["id"]: card for card in cards}.values())


def _found(paper: Mapping, own: list[dict], artifacts: Mapping, card_of: Mapping, audits: list[dict]) -> list[dict]:
    """The paper's findings in words, each with the artifact that shows it and the verdicts on which it rests."""
    claims = {(claim["short"], claim["variant"]): claim for statement in own for claim in statement["claims"]}
    by_name = {statement["name"].removeprefix(f"{paper['key']}/"): statement for statement in own}
    files = {artifact["name"]: artifact["files"] for artifact in paper["artifacts"]}
    rows = findings.Rows(
        claim=lambda name, variant: claims[name, variant],
        statement=lambda name: by_name[name],
        table=lambda name: _rows(files[name]["csv"]),
        audit=audits,
    )
    where = f"config/studies/{paper['key']}.yaml"
    found = []
    for said in findings.say(where, paper.get("findings") or {}, rows):
        shows = artifacts[said.artifact]
        rests = [claims[one] for one in said.claims]
        found.append(
            {
                "name": said.finding,
                "text": said.text,
                "artifact": shows,
                # One of each verdict: the first claim that has it.
                "verdicts": dict(reversed([(claim["shown"], claim["anchor"]) for claim in reversed(rests)])),
                "thumbnail": pictures.thumbnail(files[said.artifact]) if shows["image"] else None,
            }
        )
    return found


def _rows(path: Path | str) -> list[dict[str, str]]:
    header, lines = read_csv(Path(path))
    return [dict(zip(header, cells, strict=True)) for cells in lines]


def _cards(artifacts: Sequence[dict], own: Sequence[dict]) -> list[dict]:
    """The artifacts in cards, at the place of each card's first one; a card's tabs in the order of their artifacts."""
    groups: dict[str, list[dict]] = {}
    for artifact in artifacts:
        groups.setdefault(artifact["card"] or f"\0{artifact['name']}", []).append(artifact)
    cards = []
    for group in groups.values():
        tabs: dict[str, list[dict]] = {}
        for artifact in group:
            tabs.setdefault(artifact["tab"] or artifact["label"] or artifact["title"], []).append(artifact)
        names = {artifact["name"] for artifact in group}
        title = group[0]["card"] or group[0]["title"]
        here = [statement for statement in own if statement["artifact"] in names]
        also = [s for s in own if s not in here and any(claim["artifact"] in names for claim in s["claims"])]
        cards.append(
            {
                "id": group[0]["address"],
                "title": title,
                "short": title.partition(":")[0] if NUMBERED.match(group[0]["name"]) else title,
                "printed": bool(NUMBERED.match(group[0]["name"])),
                "artifacts": group,
                "tabs": [
                    # Small multiples often have one caption, which then stands once.
                    {
                        "name": name,
                        "artifacts": some,
                        "shared": len(some) > 1 and len({a["caption"] for a in some}) == 1,
                    }
                    for name, some in tabs.items()
                ],
                "statements": here,
                "also": also,
                "many": len(here) > MANY,
                "grids": {artifact["name"]: grid for artifact in group if (grid := _grid(artifact, here))},
                "outcomes": of_statements.counts(here),
                "open": [reading for reading in _readings(group) if reading["open"]],
                "readings": [reading for reading in _readings(group) if not reading["open"]],
                "settings": {study: rows for artifact in group for study, rows in artifact["settings"].items()},
                "behind": {name: link for artifact in group for name, link in artifact["behind"].items()},
                "data": _once_each(artifact["data"] for artifact in group),
            }
        )
    return cards


def _grid(artifact: Mapping, here: Sequence[dict]) -> dict:
    """A published table with the verdict on each of its numbers, from the claims that say where in it they stand:
    {title, columns, rows: [(name, [claims, or None])], open: those of which nothing was measured, verdicts: {word: how
    many}}; nothing for another artifact."""
    claims = [c for statement in here for c in statement["claims"] if c["row"] and c["artifact"] == artifact["name"]]
    there = {(claim["row"], claim["column"]): claim for claim in claims}
    columns = _once_each(claim["column"] for claim in claims)
    rows = [(row, [there.get((row, column)) for column in columns]) for row in _once_each(c["row"] for c in claims)]
    seen = {row: any(claim and claim["reproduced"] for claim in entries) for row, entries in rows}
    return claims and {
        "title": artifact["title"],
        "columns": columns,
        "rows": [row for row in rows if seen[row[0]]],
        "open": [row for row in rows if not seen[row[0]]],
        "verdicts": {word: sum(claim["shown"] == word for claim in claims) for word in of_statements.WORDS},
        "numbers": len(claims),
        "statements": sum(any(c in claims for c in statement["claims"]) for statement in here),
        "why": Counter(c["because"].rstrip(".") for c in claims if c["shown"] == "differs"),
    }


def _readings(group: Sequence[dict]) -> list[dict]:
    found: list[dict] = []
    for artifact in group:
        found += [reading for reading in artifact["readings"] if reading not in found]
    return found


def _once_each(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _label(name: str) -> str:
    """Figure 7a for fig7a_symmetric; nothing for an artifact of our own."""
    found = NUMBERED.match(name)
    return f"{'Figure' if found[1] == 'fig' else 'Table'} {found[2]}{found[3]}" if found else ""


def _artifact(
    paper: Mapping, artifact: Mapping, readings: Sequence[dict], folder: Path, scale: str, names: Names
) -> dict:
    key, name, kind, files = paper["key"], artifact["name"], artifact["kind"], artifact["files"]
    _one_of(kind, ("figure", "table"), f"kind of {key}/{name}")
    _one_of(artifact["data"], DATA, f"data of {key}/{name}")
    needed = {"figure": "png", "table": "csv"}[kind]
    if files and needed not in files:
        raise ValueError(f"{key}/{name}: a {kind} needs its {needed}, got {', '.join(files)}")
    for suffix, path in files.items():
        if not Path(path).is_file():
            raise PrivarmsError(
                f"{path}: the {suffix} of {key}/{name} is not there; make that artifact, then run again."
            )
    label = _label(name)
    return {
        **{field: artifact[field] for field in ("name", "kind", "title", "data", "settings")},
        "caption": names.linked(artifact["caption"]),
        "plain": names.plain(artifact["caption"]),
        **{field: artifact.get(field, "") for field in ("card", "tab", "reason")},
        "front": bool(artifact.get("front")) and bool(files),
        "label": label,
        "address": f"{key}/{name}",
        "made": bool(files),
        "links": {
            LINK_WORDS.get(suffix, suffix.upper()): _link(Path(files[suffix]), folder)
            for suffix in sorted(files, key=_LINK_ORDER.index)
        },
        "behind": {Path(file).name: _link(Path(file), folder) for file in artifact.get("behind", [])},
        "command": f"snakemake {key}_{name} --cores 4"
        + (" --configfile config/quick.yaml" if scale == "quick" else ""),
        # A table that is laid out for reading has a picture.
        "image": pictures.embedded(files) if "png" in files else None,
        "table": _table(Path(files["csv"]), ROWS_SHOWN if label else OWN_ROWS_SHOWN, names)
        if files and "png" not in files
        else None,
        "readings": [reading for reading in readings if name in reading["affects"]],
    }


def _table(path: Path, most: int, names: Names) -> dict:
    """The table as it is shown: its first rows, the others that may be unfolded, and how many there are in all.

    One that consists of sentences is a list of them: about -> [(sentence, verdict, the statement that was tested)].
    """
    header, rows = read_csv(path)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    shown = [[brief(names.plain(cell), 5) for cell in row] for row in rows[: max(most, ROWS_UNFOLDED)]]
    if "sentence" in header:
        return {"sentences": _sentences(header, rows, names), "n_rows": len(rows)}
    return {
        "sentences": {},
        "header": [
            {
                "name": names.column(name),
                "numeric": bool(any(cells)) and all(_is_number(cell) for cell in cells if cell),
            }
            for name, cells in zip(header, columns, strict=True)
        ],
        "rows": shown[:most],
        "more": shown[most:] if len(rows) <= ROWS_UNFOLDED else [],
        "n_rows": len(rows),
    }


def _sentences(header: Sequence[str], rows: Sequence[Sequence[str]], names: Names) -> dict[str, list[tuple]]:
    found: dict[str, list[tuple]] = {}
    for cells in rows:
        row = dict(zip(header, cells, strict=True))
        entry = names.plain(row["sentence"]), row.get("verdict", ""), names.plain(row.get("statement", ""))
        found.setdefault(row.get("about", ""), []).append(entry)
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def _example(low: float, high: float) -> Markup:
    measured = Measured((low + high) / 2, 0.1, 100, low=low, high=high)
    return interval.draw(Region(0.0, 1.0), measured, 0.5)


def _link(path: Path, folder: Path) -> str:
    """The address of `path` seen from the report's folder."""
    return quote(Path(os.path.relpath(path, folder)).as_posix())


def _one_of(value: str, words: Iterable[str], what: str) -> str:
    if value not in words:
        raise ValueError(f"{what} must be one of {', '.join(words)}, got {value!r}")
    return value


def _refuse_repeats(names: list[str], what: str) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{what} named more than once: {', '.join(repeated)}")
