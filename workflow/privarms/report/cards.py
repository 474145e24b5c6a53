"""The artifacts of a paper in cards: pictures and tables with their statements, open choices and settings."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from privarms.errors import PrivarmsError
from privarms.files.whole import read_csv
from privarms.report import pictures
from privarms.report import statements as of_statements
from privarms.report.statements import brief
from privarms.report.words import Names

# Of a table that a paper prints; of our own, where the file is the place to read.
ROWS_SHOWN, OWN_ROWS_SHOWN = 40, 12
# Longer tables cannot be unfolded: the page would not be small enough to mail.
ROWS_UNFOLDED = 80
# A published figure or table is named by its number, `fig8a_symmetric`; ours by what they show.
NUMBERED = re.compile(r"(fig|table)(\d+)([a-z]?)(?:_|$)")
# From as many a paper's statements are open in its cards, or folded.
MANY = 14
LINKS = {"pdf": "PDF", "svg": "SVG", "png": "PNG", "csv": "CSV", "md": "Markdown", "tex": "TeX"}


def shown_artifact(
    paper: Mapping, artifact: Mapping, readings: Sequence[dict], folder: Path, scale: str, names: Names
) -> dict:
    key, name, files = paper["key"], artifact["name"], artifact["files"]
    for suffix, path in files.items():
        if not Path(path).is_file():
            raise PrivarmsError(
                f"{path}: the {suffix} of {key}/{name} is not there; make that artifact, then run again."
            )
    number = label(name)
    return {
        **{field: artifact[field] for field in ("name", "kind", "title", "data", "settings")},
        "caption": names.linked(artifact["caption"]),
        "plain": names.plain(artifact["caption"]),
        **{field: artifact.get(field, "") for field in ("card", "tab", "reason")},
        "front": bool(artifact.get("front")) and bool(files),
        "label": number,
        "address": f"{key}/{name}",
        "made": bool(files),
        "links": {word: link(files[suffix], folder) for suffix, word in LINKS.items() if suffix in files},
        "behind": {Path(file).name: link(file, folder) for file in artifact.get("behind", [])},
        "command": f"snakemake {key}_{name} --cores 4"
        + (" --configfile config/quick.yaml" if scale == "quick" else ""),
        # A table that is laid out for reading has a picture.
        "image": pictures.embedded(files) if "png" in files else None,
        "table": _table(Path(files["csv"]), ROWS_SHOWN if number else OWN_ROWS_SHOWN, names)
        if files and "png" not in files
        else None,
        "readings": [reading for reading in readings if name in reading["affects"]],
    }


def arranged(artifacts: Sequence[dict], own: Sequence[dict]) -> list[dict]:
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
        readings = list({reading["address"]: reading for a in group for reading in a["readings"]}.values())
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
                "open": [reading for reading in readings if reading["open"]],
                "readings": [reading for reading in readings if not reading["open"]],
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


def _once_each(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def label(name: str) -> str:
    """Figure 7a for fig7a_symmetric; nothing for an artifact of our own."""
    found = NUMBERED.match(name)
    return f"{'Figure' if found[1] == 'fig' else 'Table'} {found[2]}{found[3]}" if found else ""


def _table(path: Path, most: int, names: Names) -> dict:
    """The table as it is shown: its first rows, the others that may be unfolded, and how many there are in all."""
    header, rows = read_csv(path)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    shown = [[brief(names.plain(cell), 5) for cell in row] for row in rows[: max(most, ROWS_UNFOLDED)]]
    return {
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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def link(path: Path | str, folder: Path) -> str:
    """The address of `path` seen from the report's folder."""
    return quote(Path(os.path.relpath(path, folder)).as_posix())
