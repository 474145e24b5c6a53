"""Cards of the report: figures and tables of a paper with their statements and assumptions."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from privarms.audits import verdicts
from privarms.report import pictures
from privarms.report import statements as of_statements
from privarms.report.statements import brief

# The page shows at most this number of rows of a table.
ROWS_SHOWN = 20
# Names of published figures and tables begin with their number, such as `fig8a_symmetric`; ours do not.
NUMBERED = re.compile(r"(fig|table)(\d+)([a-z]?)(?:_|$)")
LINKS = {"pdf": "PDF", "svg": "SVG", "png": "PNG", "csv": "CSV", "md": "Markdown", "tex": "TeX"}


def shown_artifact(
    paper: str, artifact: Mapping, readings: Sequence[dict], audited: pd.DataFrame, folder: Path, options: str
) -> dict:
    """Return the template's values for an artifact; its caption warns if one of its policies failed an audit.

    readings: the paper's assumptions; audited: a summary of audits
    """
    name, files = artifact["name"], artifact["files"]
    warning = verdicts.warning(audited, artifact["private_policies"])
    return {
        **artifact,
        "caption": f"{artifact['caption']} {warning}".strip(),
        "front": bool(artifact["front"] and files),
        "label": label(name),
        "address": f"{paper}/{name}",
        "links": {word: link(files[suffix], folder) for suffix, word in LINKS.items() if suffix in files},
        "command": f"snakemake {paper}_{name} --cores 4 {options}".strip(),
        # Only a table with a print layout has a PNG.
        "image": pictures.embedded(files) if "png" in files else None,
        "table": _table(Path(files["csv"])) if files and "png" not in files else None,
        "readings": [reading for reading in readings if name in reading["affects"]],
    }


def arranged(artifacts: Sequence[dict], own: Sequence[dict]) -> list[dict]:
    """Return the cards and their tabs, in the order of their first artifacts; own: the paper's statements."""
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
    return {
        "id": group[0]["address"],
        "title": title,
        "short": title.partition(":")[0] if numbered else title,
        "printed": numbered,
        "artifacts": group,
        # Several pictures in one tab often share a caption, which is then written once.
        "tabs": [
            {"name": name, "artifacts": some, "shared": len(some) > 1 and len({a["caption"] for a in some}) == 1}
            for name, some in tabs.items()
        ],
        "statements": here,
        "counts": of_statements.counts(here),
        "readings": list({reading["address"]: reading for a in group for reading in a["readings"]}.values()),
        "data": list(dict.fromkeys(artifact["data"] for artifact in group)),
    }


def label(name: str) -> str:
    """Return "Figure 7a" for fig7a_symmetric, and an empty text for an artifact without a number."""
    number = NUMBERED.match(name)
    return f"{'Figure' if number[1] == 'fig' else 'Table'} {number[2]}{number[3]}" if number else ""


def _table(path: Path) -> dict:
    """Return a table's header, its first rows and its total number of rows."""
    # Our tables write a missing value as an empty field; a word such as None is a value.
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    rows = frame.head(ROWS_SHOWN).itertuples(index=False)
    return {
        "header": [
            {"name": name.replace("_", " "), "numeric": pd.api.types.is_numeric_dtype(kind)}
            for name, kind in frame.dtypes.items()
        ],
        "rows": [["" if pd.isna(cell) else brief(str(cell), 5) for cell in row] for row in rows],
        "n_rows": len(frame),
    }


def link(path: Path | str, folder: Path) -> str:
    return quote(Path(os.path.relpath(path, folder)).as_posix())
