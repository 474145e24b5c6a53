"""report.html: one page that needs nothing but itself, with every artifact, every reading and the whole ledger."""

import base64
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from privarms.artifacts.tables import shown
from privarms.audits.verdicts import NOT_AUDITED, NOT_CAUGHT, NOT_PRIVATE, PRIVATE
from privarms.data import STAND_IN
from privarms.errors import PrivarmsError
from privarms.files.whole import read_csv, write_text
from privarms.ledger import DATA, OUTCOMES, read, read_statements
from privarms.verdict import VERDICTS

# Each verdict with the sign that tells it apart where colours do not.
SIGNS = dict(zip(VERDICTS, "✓≠±?", strict=True))
DATA_WORDS = dict(zip(DATA, ("simulated", "real data", STAND_IN, ""), strict=True))
# An outcome looks like the verdict that it is nearest to.
LOOKS = ("reproduced", "inconclusive", "inconclusive", "differs", "unverifiable")
OUTCOME_LOOKS = dict(zip(OUTCOMES, LOOKS, strict=True))
OUTCOME_SIGNS = dict(zip(OUTCOMES, "✓±±≠?", strict=True))
# What an audit says looks like the verdict that it is nearest to.
AUDIT_LOOKS = {
    NOT_PRIVATE: "differs",
    PRIVATE: "reproduced",
    NOT_CAUGHT: "inconclusive",
    NOT_AUDITED: "unverifiable",
}
AUDIT_COLUMNS = (
    *(
        "name",
        "subject",
        "verdict",
        "claimed_epsilon",
        "exact",
        "lower_bound",
        "level",
        "trials",
        "power_against_half_noise",
    ),
    *("broken_twin_lower_bound", "note", "setting", "settings"),
)
SILENT = "not stated in the paper"
MUTANT_COLUMNS = ("mutant", "file", "fault", "tests_failed", "claims_flipped", "seconds")

ROWS_SHOWN = 40
# A drawing up to this size is embedded as SVG, which stays sharp at any zoom; a larger one as PNG.
SVG_BYTES = 150_000
PNG_DOTS_PER_INCH = 200
# Figures are drawn for print with 8-point letters; on a screen they are read from further away.
SCREEN_ENLARGEMENT = 1.4

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def build_report(
    output: Path,
    *,
    scale: str,
    revision: str,
    papers: list[Mapping],
    ledger: Path,
    statements: Path,
    datasets: list[Mapping],
    mutants: Path | None = None,
    audits: Mapping[str, Path] | None = None,
) -> None:
    """Write `output`, whole or not at all; the same arguments and files give the same bytes.

    scale: "quick" or "paper". revision: of the program that made the results.
    papers: {key, title, authors, year, venue, url?, readings: [{text, source}], artifacts: [{name, kind: "figure" or
    "table", title, caption, settings: {name: text}, data: "simulated", "real" or "stand-in", files: {suffix: Path}}]}.
    A figure needs its png, a table its csv; an artifact whose `files` is empty was not made, and `reason` says why.
    ledger, statements: CSV files as `ledger.write` and `write_statements` make them.
    datasets: {name, status: "real", "stand-in" or "missing", message}.
    mutants: a CSV file of small faults of the library and what noticed them, with MUTANT_COLUMNS, or None.
    audits: the picture of all audits by suffix, whose csv has a line a mechanism or policy with AUDIT_COLUMNS, and
    under `table` the file with all of their rows; or None.
    Raises PrivarmsError for a ledger, mutants, audits or an artifact's file that is missing or malformed, ValueError
    for the rest.
    """
    claims = read_ledger(ledger, {paper["key"] for paper in papers})
    stated = read_statements(statements)
    folder = Path(output).parent
    shown_papers = [_paper(paper, claims, stated, folder) for paper in papers]
    _refuse_repeats([paper["key"] for paper in papers], "paper")
    for dataset in datasets:
        _one_of(dataset["status"], ("real", "stand-in", "missing"), f"status of dataset {dataset['name']}")
    template = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("report.html.j2")
    page = template.render(
        scale=_one_of(scale, ("quick", "paper"), "scale"),
        revision=revision,
        papers=shown_papers,
        claims=claims,
        outcomes=_outcomes(stated),
        n_statements=sum(row["whose"] == "paper" for row in stated),
        n_ours=sum(row["whose"] == "ours" for row in stated),
        outcome_signs=OUTCOME_SIGNS,
        outcome_looks=OUTCOME_LOOKS,
        n_figures=sum(a["kind"] == "figure" for paper in shown_papers for a in paper["artifacts"]),
        n_tables=sum(a["kind"] == "table" for paper in shown_papers for a in paper["artifacts"]),
        datasets=datasets,
        verdicts=SIGNS,
        data_words=DATA_WORDS,
        ledger_link=_link(Path(ledger), folder),
        mutants=read_mutants(mutants) if mutants else [],
        mutants_link=_link(Path(mutants), folder) if mutants else "",
        audits=read_audits(audits["csv"]) if audits else [],
        audits_image=_image(audits) if audits else None,
        audits_links={"CSV": _link(audits["table"], folder), "PDF": _link(audits["pdf"], folder)} if audits else {},
        audit_looks=AUDIT_LOOKS,
    )
    write_text(output, page)


def read_ledger(path: Path, papers: Iterable[str]) -> list[dict[str, str]]:
    """The rows of a ledger as texts, with `anchor`, `label`, `sort` and `brief` added for the page.

    Raises PrivarmsError as `ledger.read` does, and for a paper that is not on the page.
    """
    papers = tuple(sorted(papers))
    claims, anchors = [], set()
    for number, row in enumerate(read(path), start=2):
        if row["paper"] not in papers:
            raise PrivarmsError(
                f"{path}: line {number}, column paper: {row['paper']!r} is not one of {', '.join(papers)}."
            )
        anchor = f"claim-{row['claim']}"
        if anchor in anchors:
            # A second variant of the same claim: the first one keeps the plain address.
            anchor = f"{anchor}-{row['variant']}"
        anchors.add(anchor)
        row["anchor"] = anchor
        row["artifact"] = row["artifact"].removeprefix(f"{row['paper']}/")
        row["sort"] = {name: _sort_key(row[name]) for name in ("published", "reproduced", "replicates", "tolerance")}
        row["brief"] = {name: brief(row[name], digits) for name, digits in _DIGITS.items()}
        claims.append(row)
    return claims


def read_mutants(path: Path) -> list[dict]:
    """The rows of a table of mutants, its counts as ints. Raises PrivarmsError for other columns and counts."""
    header, lines = read_csv(Path(path))
    if tuple(header) != MUTANT_COLUMNS:
        expected = ", ".join(MUTANT_COLUMNS)
        raise PrivarmsError(f"{path}: expected the columns {expected}, in this order; run `make mutants` or delete it")
    rows = []
    for number, cells in enumerate(lines, start=2):
        row: dict = dict(zip(MUTANT_COLUMNS, cells, strict=True))
        for column in ("tests_failed", "claims_flipped"):
            if not row[column].isdecimal():
                raise PrivarmsError(f"{path}: line {number}, column {column}: expected a count; found {row[column]!r}")
            row[column] = int(row[column])
        rows.append(row)
    return rows


def read_audits(path: Path) -> list[dict[str, str]]:
    """The lines of a summary of audits, as texts. Raises PrivarmsError for other columns and verdicts."""
    header, lines = read_csv(Path(path))
    rows = [dict(zip(header, cells, strict=True)) for cells in lines]
    known = set(AUDIT_COLUMNS) <= set(header) and all(row["verdict"] in AUDIT_LOOKS for row in rows)
    if not known:
        raise PrivarmsError(f"{path}: expected the columns {', '.join(AUDIT_COLUMNS)}; delete it, and it is made again")
    digits = {"claimed_epsilon": 4, "exact": 4, "lower_bound": 4, "level": 5, "trials": 9}
    digits |= {"power_against_half_noise": 3, "broken_twin_lower_bound": 4}
    return [row | {name: brief(row[name], n) for name, n in digits.items()} for row in rows]


_LINK_ORDER = ("csv", "pdf", "svg", "png", "md", "tex")
_DIGITS = {"published": 6, "reproduced": 5, "se": 2, "low": 4, "high": 4, "margin": 2, "replicates": 6, "tolerance": 6}


def brief(text: str, digits: int = 6) -> str:
    """A number rounded to `digits` significant digits and long whole ones in groups of three; other texts as they are.

    The groups are set apart by narrow no-break spaces.
    """
    try:
        value = float(text)
    except ValueError:
        return text
    rounded = shown(value, digits)
    sign, digits_only = ("−", rounded[1:]) if rounded.startswith("-") else ("", rounded)
    if digits_only.isdigit() and len(digits_only) > 4:
        digits_only = f"{int(digits_only):,}".replace(",", "\u202f")
    return sign + digits_only


def _sort_key(text: str) -> str:
    """The first number in `text` (">= 5" sorts as 5), or nothing."""
    found = _NUMBER.search(text)
    return repr(float(found.group())) if found else ""


def _paper(paper: Mapping, claims: list[dict], stated: list[dict], folder: Path) -> dict:
    key = paper["key"]
    own = [claim for claim in claims if claim["paper"] == key]
    artifacts = [_artifact(key, artifact, own, folder) for artifact in paper["artifacts"]]
    _refuse_repeats([artifact["name"] for artifact in artifacts], f"artifact of {key}")
    names = {artifact["name"] for artifact in artifacts}
    for claim in own:
        claim["card"] = f"{key}/{claim['artifact']}" if claim["artifact"] in names else ""
    url = paper.get("url") or ""
    if url and not url.startswith(("https://", "http://")):
        raise ValueError(f"{key}: url must start with https:// or http://, got {url!r}")
    authors = paper["authors"]
    return {
        **{name: paper[name] for name in ("key", "title", "year", "venue")},
        "url": url,
        "authors": authors if isinstance(authors, str) else ", ".join(authors),
        "silent": [reading for reading in paper["readings"] if reading["source"] == SILENT],
        "readings": [reading for reading in paper["readings"] if reading["source"] != SILENT],
        "artifacts": artifacts,
        "counts": _counts(own),
        "outcomes": _outcomes([row for row in stated if row["paper"] == key]),
        "stand_in": any(artifact["data"] == "stand-in" for artifact in artifacts),
    }


def _artifact(paper: str, artifact: Mapping, claims: list[dict], folder: Path) -> dict:
    name, kind, files = artifact["name"], artifact["kind"], artifact["files"]
    _one_of(kind, ("figure", "table"), f"kind of {paper}/{name}")
    _one_of(artifact["data"], DATA, f"data of {paper}/{name}")
    needed = {"figure": "png", "table": "csv"}[kind]
    if files and needed not in files:
        raise ValueError(f"{paper}/{name}: a {kind} needs its {needed}, got {', '.join(files)}")
    for suffix, path in files.items():
        if not Path(path).is_file():
            raise PrivarmsError(
                f"{path}: the {suffix} of {paper}/{name} is not there; make that artifact, then run again."
            )
    card = {
        **{field: artifact[field] for field in ("name", "kind", "title", "caption", "data")},
        "address": f"{paper}/{name}",
        "settings": artifact["settings"],
        "made": bool(files),
        "reason": artifact.get("reason", ""),
        "links": {suffix: _link(Path(files[suffix]), folder) for suffix in sorted(files, key=_LINK_ORDER.index)},
        "claims": [claim for claim in claims if claim["artifact"] == name],
    }
    # A table that is laid out for reading has a picture.
    card["image"] = _image(files) if "png" in files else None
    card["table"] = _table(Path(files["csv"])) if files and "png" not in files else None
    return card


def _image(files: Mapping[str, Path]) -> dict:
    """A data URI, and the size at which to show it, in CSS pixels (96 per inch)."""
    png = Path(files["png"]).read_bytes()
    if not png.startswith(b"\x89PNG\r\n\x1a\n"):
        raise PrivarmsError(f"{files['png']}: not a PNG image; delete it and make the figure again.")
    # A PNG states its width and height in pixels in bytes 16 to 24.
    pixels = (int.from_bytes(png[16:20]), int.from_bytes(png[20:24]))
    mime, content = "image/png", png
    if "svg" in files and Path(files["svg"]).stat().st_size <= SVG_BYTES:
        mime, content = "image/svg+xml", Path(files["svg"]).read_bytes()
    width, height = (round(length / PNG_DOTS_PER_INCH * 96 * SCREEN_ENLARGEMENT) for length in pixels)
    uri = f"data:{mime};base64,{base64.b64encode(content).decode('ascii')}"
    return {"uri": uri, "width": width, "height": height, "wide": width > 600}


def _table(path: Path) -> dict:
    header, rows = read_csv(path)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    return {
        "header": [
            {"name": name, "numeric": bool(any(cells)) and all(_is_number(cell) for cell in cells if cell)}
            for name, cells in zip(header, columns, strict=True)
        ],
        "rows": [[{"text": brief(cell), "full": cell} for cell in row] for row in rows[:ROWS_SHOWN]],
        "n_rows": len(rows),
        "cut": len(rows) > ROWS_SHOWN,
    }


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _counts(claims: list[dict]) -> dict[str, int]:
    return {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in VERDICTS}


def _outcomes(stated: list[dict]) -> dict[str, int]:
    """How many of the papers' own statements have each outcome; those that are ours are not counted."""
    stated = [row for row in stated if row["whose"] == "paper"]
    return {outcome: sum(row["outcome"] == outcome for row in stated) for outcome in OUTCOMES}


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
