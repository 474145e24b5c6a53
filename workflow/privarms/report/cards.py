"""What report and site show of a paper: cards with figures, answers, settings, statements and assumptions."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from privarms.audits import verdicts
from privarms.report import answers
from privarms.report import statements as of_statements

# Names of published figures and tables begin with their number, such as `fig8a_symmetric`; ours do not.
NUMBERED = re.compile(r"(fig|table)(\d+)([a-z]?)(?:_|$)")


def is_paper(described: Mapping) -> bool:
    """Return whether a collection is a published paper, which has numbered figures or tables."""
    return any(NUMBERED.match(artifact["name"]) for artifact in described["artifacts"])


def of_paper(
    described: Mapping, stated: Sequence[dict], audited: pd.DataFrame, shown: Callable[[dict], dict], options: str = ""
) -> dict:
    """Return what report and site show of a paper.

    described : as `planning.outputs.Outputs.described` returns it; stated : as `statements.of_papers`
    audited : a summary of audits, for warnings of policies that failed one
    shown : adds to an artifact what only one of the two has, such as an embedded picture
    options : of the commands
    """
    key = described["key"]
    own = [statement for statement in stated if statement["paper"] == key]
    readings = [
        {
            **{field: reading[field] for field in ("text", "source")},
            "number": number,
            "affects": reading.get("affects", []),
            "address": f"{key}/reading-{number}",
            # The statements that show the effect of another choice.
            "tried": [one for name in reading.get("tried", []) for one in own if one["name"] == name],
        }
        for number, reading in enumerate(described["readings"], 1)
    ]
    artifacts = [shown(_artifact(key, artifact, readings, audited, options)) for artifact in described["artifacts"]]
    names = {artifact["name"] for artifact in artifacts}
    cards = arranged(artifacts, own)
    rest = sorted((statement for statement in own if statement["artifact"] not in names), key=_rank)
    headlines = [statement for statement in own if statement["headline"]]
    return {
        **{name: described[name] for name in ("key", "title", "authors", "year", "venue")},
        "short": described.get("short") or key,
        "byline": _byline(described),
        "is_paper": is_paper(described),
        "readings": readings,
        "headlines": headlines,
        # A finding that is decided says more than one that is open.
        "headline": next((s for s in headlines if s["look"] not in ("open", "unverifiable")), *headlines[:1] or [None]),
        "cards": cards,
        "printed": [card for card in cards if card["printed"]],
        "beyond": [card for card in cards if not card["printed"]],
        "fronts": [artifact for artifact in artifacts if artifact["front"]],
        "rest": rest,
        "rest_notes": of_statements.noted(rest),
        "rest_answer": _answer("Other statements", "", rest),
        "counts": of_statements.counts(own),
        "ours": sum(statement["ours"] for statement in own),
        "of_paper": any(not statement["ours"] for statement in own),
        "stated": own,
        "stand_in": any(artifact["data"] == "stand-in" for artifact in artifacts),
    }


def _byline(described: Mapping) -> str:
    authors, venue, year = (str(described[name]) for name in ("authors", "venue", "year"))
    if not is_paper(described):
        return f"A collection of our own, {authors}."
    return f"{authors}. {venue}{f', {year}' if year and year not in venue else ''}."


def _artifact(paper: str, artifact: Mapping, readings: Iterable[dict], audited: pd.DataFrame, options: str) -> dict:
    name, warning = artifact["name"], verdicts.warning(audited, artifact["private_policies"])
    return {
        **artifact,
        "caption": f"{artifact['caption']} {warning}".strip(),
        "front": bool(artifact["front"] and artifact["files"]),
        "label": label(name),
        "address": f"{paper}/{name}",
        "command": f"snakemake {paper}_{name} --cores 4 {options}".strip(),
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
    here = sorted((statement for statement in own if statement["artifact"] in names), key=_rank)
    short = title.partition(":")[0] if numbered else title
    return {
        "id": group[0]["address"],
        "title": title,
        "short": short,
        "printed": numbered,
        "artifacts": group,
        # Several pictures in one tab often share a caption, which is then written once.
        "tabs": [
            {"name": name, "artifacts": some, "shared": len(some) > 1 and len({a["caption"] for a in some}) == 1}
            for name, some in tabs.items()
        ],
        "settings": _distinct(row for artifact in group for row in artifact["settings"]),
        "further": _further(group),
        "answers": _answers(group, here, short),
        "statements": here,
        "notes": of_statements.noted(here),
        "counts": of_statements.counts(here),
        "readings": list({reading["address"]: reading for a in group for reading in a["readings"]}.values()),
        "data": list(dict.fromkeys(artifact["data"] for artifact in group)),
    }


def _rank(statement: Mapping) -> tuple[int, bool]:
    """Return the order of statements: what the paper's runs show, its other statements, and questions of our own.

    Among them, statements with few cases come first, because they share a table.
    """
    group = 2 if statement["ours"] else int(statement["kind"] not in answers.FROM_RUNS)
    return group, bool(statement["table"]["grid"])


def _distinct(rows: Iterable[Mapping]) -> list[Mapping]:
    found = []
    for row in rows:
        if row not in found:
            found.append(row)
    return found


def _further(group: Sequence[Mapping]) -> list[Mapping]:
    """Return the studies that only the statements of a card use."""
    shown = {row["study"] for artifact in group for row in artifact["settings"]}
    return _distinct(one for artifact in group for one in artifact["further"] if one["study"] not in shown)


def _answers(group: Sequence[Mapping], here: Sequence[dict], short: str) -> list[dict]:
    """Return an answer per published figure or table of a card that a statement of the paper is about."""
    labels = {artifact["name"]: artifact["label"] or short for artifact in group}
    parts: dict[str, list[dict]] = {}
    for statement in here:
        if not statement["ours"]:
            parts.setdefault(labels[statement["artifact"]], []).append(statement)
    addresses = {labels[artifact["name"]]: artifact["address"] for artifact in reversed(group)}
    return [_answer(name, addresses[name], parts[name]) for name in sorted(parts)]


def _answer(name: str, address: str, stated: Sequence[dict]) -> dict:
    return {
        "name": name,
        "address": address,
        "text": answers.answer(stated, answers.TEXT),
        "program": answers.answer(stated, answers.PROGRAM),
        "why": answers.why(stated),
    }


def label(name: str) -> str:
    """Return "Figure 7a" for fig7a_symmetric, and an empty text for an artifact without a number."""
    number = NUMBERED.match(name)
    return f"{'Figure' if number[1] == 'fig' else 'Table'} {number[2]}{number[3]}" if number else ""
