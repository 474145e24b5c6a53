"""The artifacts of a paper in cards: pictures and tables with their statements, assumptions and settings."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from privarms.files.whole import read_csv
from privarms.report import pictures
from privarms.report import statements as of_statements
from privarms.report.statements import brief
from privarms.report.words import Names

# The number of rows that the page shows of a published table, and of a table of our own.
ROWS_SHOWN, OWN_ROWS_SHOWN = 40, 12
# A longer table cannot be unfolded: the page would be too large for a mail.
ROWS_UNFOLDED = 80
# A published figure or table is named by its number, `fig8a_symmetric`; ours by what they show.
NUMBERED = re.compile(r"(fig|table)(\d+)([a-z]?)(?:_|$)")
# A card with more statements folds them.
MANY = 13
LINKS = {"pdf": "PDF", "svg": "SVG", "png": "PNG", "csv": "CSV", "md": "Markdown", "tex": "TeX"}


def shown_artifact(
    paper: Mapping, artifact: Mapping, readings: Sequence[dict], folder: Path, scale: str, names: Names
) -> dict:
    """Return what the template needs of an artifact; `readings` are the paper's assumptions."""
    key, name, files = paper["key"], artifact["name"], artifact["files"]
    number = label(name)
    quick = " --configfile config/quick.yaml" if scale == "quick" else ""
    # A table that is laid out for reading has a picture.
    rows = ROWS_SHOWN if number else OWN_ROWS_SHOWN
    return {
        **{field: artifact[field] for field in ("name", "kind", "title", "data", "settings")},
        "caption": names.linked(artifact["caption"]),
        "plain": names.plain(artifact["caption"]),
        **{field: artifact.get(field, "") for field in ("card", "tab", "reason")},
        "front": bool(artifact.get("front")) and bool(files),
        "label": number,
        "address": f"{key}/{name}",
        "links": {word: link(files[suffix], folder) for suffix, word in LINKS.items() if suffix in files},
        "behind": {Path(file).name: link(file, folder) for file in artifact.get("behind", [])},
        "command": f"snakemake {key}_{name} --cores 4{quick}",
        "image": pictures.embedded(files) if "png" in files else None,
        "table": _table(Path(files["csv"]), rows, names) if files and "png" not in files else None,
        "readings": [reading for reading in readings if name in reading["affects"]],
    }


def arranged(artifacts: Sequence[dict], own: Sequence[dict]) -> list[dict]:
    """Return the cards, in the order of their first artifacts; a card's tabs are in the order of their artifacts.

    own: the paper's statements
    """
    groups: dict[str, list[dict]] = {}
    for artifact in artifacts:
        groups.setdefault(artifact["card"] or f"\0{artifact['name']}", []).append(artifact)
    return [_card(group, own) for group in groups.values()]


def _card(group: Sequence[dict], own: Sequence[dict]) -> dict:
    tabs: dict[str, list[dict]] = {}
    for artifact in group:
        tabs.setdefault(artifact["tab"] or artifact["label"] or artifact["title"], []).append(artifact)
    names = {artifact["name"] for artifact in group}
    title, numbered = group[0]["card"] or group[0]["title"], bool(NUMBERED.match(group[0]["name"]))
    here = [statement for statement in own if statement["artifact"] in names]
    also = [s for s in own if s not in here and any(claim["artifact"] in names for claim in s["claims"])]
    return {
        "id": group[0]["address"],
        "title": title,
        "short": title.partition(":")[0] if numbered else title,
        "printed": numbered,
        "artifacts": group,
        # Several pictures under one tab often have the same caption, which is then written once.
        "tabs": [
            {"name": name, "artifacts": some, "shared": len(some) > 1 and len({a["caption"] for a in some}) == 1}
            for name, some in tabs.items()
        ],
        "statements": here,
        "also": also,
        "many": len(here) > MANY,
        "grids": {artifact["name"]: grid for artifact in group if (grid := _grid(artifact, here))},
        "outcomes": of_statements.counts(here),
        "readings": list({reading["address"]: reading for a in group for reading in a["readings"]}.values()),
        "settings": {study: rows for artifact in group for study, rows in artifact["settings"].items()},
        "behind": {name: link for artifact in group for name, link in artifact["behind"].items()},
        "data": _once_each(artifact["data"] for artifact in group),
    }


def _grid(artifact: Mapping, here: Sequence[dict]) -> dict:
    """Return a published table number by number, from the claims that name their row and column in it.

    {columns, rows and open: [(name, [a claim or None per column])], verdicts: word -> count, why: reason -> count};
    nothing was measured of the rows in `open`. Empty for an artifact without such claims.
    """
    claims = [c for statement in here for c in statement["claims"] if c["row"] and c["artifact"] == artifact["name"]]
    places = {(claim["row"], claim["column"]): claim for claim in claims}
    columns = _once_each(claim["column"] for claim in claims)
    rows = [(row, [places.get((row, column)) for column in columns]) for row in _once_each(c["row"] for c in claims)]
    measured = {row: any(claim and claim["reproduced"] for claim in entries) for row, entries in rows}
    return claims and {
        "columns": columns,
        "rows": [row for row in rows if measured[row[0]]],
        "open": [row for row in rows if not measured[row[0]]],
        "verdicts": {word: sum(claim["shown"] == word for claim in claims) for word in of_statements.WORDS},
        "why": Counter(c["because"].rstrip(".") for c in claims if c["shown"] == "differs"),
    }


def _once_each(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def label(name: str) -> str:
    """Return "Figure 7a" for fig7a_symmetric; nothing for an artifact of our own."""
    number = NUMBERED.match(name)
    return f"{'Figure' if number[1] == 'fig' else 'Table'} {number[2]}{number[3]}" if number else ""


def _table(path: Path, most: int, names: Names) -> dict:
    """Return a table's header, first rows, the rows that may be unfolded, and the number of all rows."""
    header, rows = read_csv(path)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    shown = [[brief(names.plain(cell), 5) for cell in row] for row in rows[: max(most, ROWS_UNFOLDED)]]
    return {
        "header": [
            {"name": names.column(name), "numeric": any(cells) and all(map(_is_number, filter(None, cells)))}
            for name, cells in zip(header, columns, strict=True)
        ],
        "rows": shown[:most],
        "more": shown[most:] if len(rows) <= ROWS_UNFOLDED else [],
        "n_rows": len(rows),
    }


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def link(path: Path | str, folder: Path) -> str:
    """Return the address of a file relative to the report's folder."""
    return quote(Path(os.path.relpath(path, folder)).as_posix())
