"""Statements of papers for the page, each with its claims."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from privarms.claims.ledger import OUTCOMES, STATEMENTS, read
from privarms.claims.verdict import VERDICTS
from privarms.plots.tables import shown
from privarms.report.words import whole
from privarms.studies.claims import headline

# Shown for a claim that quick scale measures but does not judge, because the published setting is larger.
SMALL = "measured small"
WORDS = (*VERDICTS, SMALL)
# CSS class of each outcome, in the order of OUTCOME_WORDS.
LOOKS = ("reproduced", "inconclusive", "released", "inconclusive", "differs", "unverifiable", "small")
OUTCOME_WORDS = (*OUTCOMES, SMALL)
OUTCOME_LOOKS = dict(zip(OUTCOME_WORDS, LOOKS, strict=True))
DIGITS = {"published": 6, "reproduced": 4, "se": 2, "low": 4, "high": 4, "margin": 2, "replicates": 9, "tolerance": 6}
# Numbers from this size on are written with an exponent, because a float cannot store all their digits.
LARGE = 1e15


def brief(text: str, digits: int = 6) -> str:
    """Return a number rounded to significant digits, in groups of three digits if long; other texts are unchanged."""
    try:
        value = float(text)
    except ValueError:
        return text
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    rounded = shown(value, digits)
    if "e+" in rounded and abs(value) < LARGE:
        rounded = str(int(float(rounded)))
    sign, digits_only = ("−", rounded[1:]) if rounded.startswith("-") else ("", rounded)
    return sign + (whole(int(digits_only)) if digits_only.isdigit() else digits_only)


def of_papers(ledger, statements, papers: Sequence[Mapping], scale: str) -> list[dict]:
    """Return the statements of all papers, in the order of the ledger, each with its claims.

    ledger, statements: the CSV files; papers: {key, claims: as `studies.claims.load` returns them}. A statement has the
    `artifact` of its first claim. A claim is a row of the ledger with `anchor`, `test`, `shown` (one of WORDS), `brief`
    (its numbers, rounded) and `headline` (empty for an unverifiable claim). Raises PrivarmsError as `ledger.read`.
    """
    settings = {
        (f"{paper['key']}/{claim['claim']}", claim.get("variant", "")): claim
        for paper in papers
        for claim in paper.get("claims", [])
    }
    known = {row["statement"]: row for row in read(statements, STATEMENTS)}
    groups: dict[str, list[dict]] = {}
    anchors = set()
    for row in read(ledger):
        setting = settings.get((row["claim"], row["variant"]), {})
        claim = _claim(row, setting, scale)
        if claim["anchor"] in anchors:
            # Only the first variant of a claim has the address without a suffix.
            claim["anchor"] += f"-{claim['variant']}"
        anchors.add(claim["anchor"])
        about = f"{row['paper']}/{setting['about']}" if setting else row["claim"]
        groups.setdefault(about, []).append(claim)
    return [_statement(name, group, known.get(name)) for name, group in groups.items()]


def _statement(name: str, group: list[dict], known: Mapping | None) -> dict:
    outcome = known["outcome"] if known else "cannot be told"
    if outcome == "cannot be told" and any(claim["shown"] == SMALL for claim in group):
        outcome = SMALL
    ours = bool(known) and known["whose"] == "ours"
    for claim in group:
        claim |= {"about": name, "outcome": outcome, "ours": ours}
    return {
        "name": name,
        "anchor": f"statement-{name}",
        "paper": group[0]["paper"],
        "artifact": group[0]["artifact"],
        "text": group[0]["stated"],
        "place": group[0]["place"],
        "ours": ours,
        "outcome": outcome,
        "claims": group,
    }


def _claim(row: dict, setting: Mapping, scale: str) -> dict:
    unverifiable = row["verdict"] == "unverifiable"
    small = scale == "quick" and unverifiable and bool(row["reproduced"]) and row["data"] != "stand-in"
    small = small and bool(setting) and setting.get("published_size", True)
    has_headline = "headline" in setting and row["reproduced"] and (small or not unverifiable)
    return row | {
        "anchor": f"claim-{row['claim']}",
        "short": row["claim"].removeprefix(f"{row['paper']}/"),
        "artifact": row["artifact"].removeprefix(f"{row['paper']}/"),
        "shown": SMALL if small else row["verdict"],
        "brief": {name: brief(row[name], digits) for name, digits in DIGITS.items()},
        "headline": headline(setting, row) if has_headline else "",
        "stated": setting.get("statement", row["statement"]),
        **{key: setting.get(key, "") for key in ("place", "test")},
    }


class Counts(NamedTuple):
    """How many of some statements are a paper's, by outcome, and how many are questions of our own."""

    outcomes: dict[str, int]
    ours: int

    @property
    def statements(self) -> int:
        """The number of statements of the papers."""
        return sum(self.outcomes.values())

    def in_words(self, what: str = "statement") -> str:
        """Return "2 statements and 1 question of our own", or only one of the two."""
        parts = [several(self.statements, what)] if self.statements or not self.ours else []
        parts += [several(self.ours, "question") + " of our own"] if self.ours else []
        return " and ".join(parts)


def counts(
    statements: Iterable[Mapping],
    outcome: Callable[[Mapping], str] = itemgetter("outcome"),
    words: Sequence[str] = OUTCOME_WORDS,
) -> Counts:
    """Count statements for every place that shows such numbers: our own questions are never a paper's outcome.

    outcome: of a statement, one of `words`
    """
    statements = list(statements)
    outcomes = [outcome(statement) for statement in statements if not statement["ours"]]
    return Counts({word: outcomes.count(word) for word in words}, len(statements) - len(outcomes))


def several(number: int, noun: str) -> str:
    """Return a number with its noun: "1 statement", "2 statements"."""
    return f"{whole(number)} {noun}{'' if number == 1 else 's'}"
