"""Statements of papers for people: the rows of ledger and statements with addresses, rounded numbers and tables."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from privarms.ledger import outcomes
from privarms.ledger.files import read
from privarms.ledger.statements import NO_EFFECT
from privarms.plots.tables import shown
from privarms.report.words import whole, words

DIGITS = {"measured": 4, "se": 2, "low": 4, "high": 4, "runs": 9}
# Numbers from this size on are written with an exponent, because a float cannot store all their digits.
LARGE = 1e15
# Outcomes whose CSS class (colour and sign) is not that of their state.
OWN_LOOKS = (outcomes.ONLY_RELEASED, "unverifiable")
KIND_MEANINGS = {
    "number": "A value that the paper prints from its own runs or data. It agrees or differs.",
    "comparison": "The paper orders what it measured, or prints a factor. The boundary is the factor, or no effect.",
    "universal": "A theorem, a bound with constants or a privacy guarantee. One counter-example refutes it.",
    "exact": "An identity, arithmetic, or a table against the text. It is true or false.",
    "words": "Likeness or size in words without a number. The effect is measured, without a verdict.",
}
MEANINGS = {
    "agrees": "The 99.9% interval of our value is inside the accepted range of the printed number.",
    "differs": "The 99.9% interval is outside the accepted range of the printed number.",
    "holds": "The 99.9% interval is on the claimed side of the boundary.",
    "fails": "The 99.9% interval is on the other side of the boundary.",
    "refuted": "An instance contradicts a sentence about every instance.",
    "not refuted": "No instance that we ran contradicts a sentence about every instance.",
    "true": "The identity, the arithmetic or the size is right.",
    "false": "The identity, the arithmetic or the size is wrong.",
    "measured": "The paper prints words without a number, or an order without constants. We show the effect.",
    "undecided": "The 99.9% interval contains an end of the accepted range, or this scale is too small.",
    "unverifiable": "Data or a specification are missing. The reason names them.",
}
OUTCOME_MEANINGS = {
    "depends on X": "Cases that differ in the assumption X have different verdicts.",
    outcomes.ONLY_RELEASED: "The authors’ program gives what the paper says. The algorithm of the text does not.",
}


def look(outcome: str) -> str:
    """Return the CSS class of a verdict or an outcome."""
    return outcome.split()[0] if outcome in OWN_LOOKS else outcomes.state(outcome)


def meaning(outcome: str) -> str:
    """Return the meaning of a verdict or an outcome, one sentence."""
    return MEANINGS.get(outcome) or OUTCOME_MEANINGS["depends on X" if outcome.startswith("depends") else outcome]


def brief(text: str, digits: int = 6) -> str:
    """Return a number rounded to significant digits, in groups of three digits if long; other texts are unchanged."""
    try:
        value = float(text)
    except ValueError:
        return text
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if math.isnan(value):
        return ""
    rounded = shown(value, digits)
    if "e+" in rounded and abs(value) < LARGE:
        rounded = str(int(float(rounded)))
    sign, digits_only = ("−", rounded[1:]) if rounded.startswith("-") else ("", rounded)
    return sign + (whole(int(digits_only)) if digits_only.isdigit() else digits_only)


def of_papers(ledger, statements) -> list[dict]:
    """Return the statements of all papers, in the order of the file, each with its cases and their table.

    ledger, statements: the CSV files. Raises PrivarmsError as `ledger.files.read`.
    """
    groups: dict[str, list[dict]] = {}
    for row in read(ledger):
        some = groups.setdefault(row["statement"], [])
        some.append(_case(row, len(some) + 1))
    return [_statement(row, groups[row["statement"]]) for row in read(statements, outcomes.COLUMNS)]


def _statement(row: dict, cases: list[dict]) -> dict:
    for group, state, some in outcomes.counted(row, cases):
        for case in some:
            case |= {"whose": row["whose"], "counted": f"{group}: {outcomes.STATES[group][state]}"}
    return row | {
        "group": outcomes.group(row),
        "name": row["statement"].removeprefix(f"{row['paper']}/"),
        "anchor": f"statement-{row['statement']}",
        "artifact": row["artifact"].removeprefix(f"{row['paper']}/"),
        "ours": row["whose"] == "ours",
        "look": look(row["outcome"]),
        "test": cases[0]["test"],
        "after": next((case["post_hoc"] for case in cases if case["post_hoc"]), ""),
        "cases": cases,
        "table": table(cases),
    }


def _case(row: dict, number: int) -> dict:
    variant = row["variant"].replace("_", " ")
    return row | {
        "anchor": f"case-{row['statement']}-{number}",
        "artifact": row["artifact"].removeprefix(f"{row['paper']}/"),
        "setting": words(", ".join(filter(None, (variant, row["case"])))),
        "settings": ({"variant": variant} if variant else {}) | settings(row["case"]),
        "look": look(row["verdict"]),
        "brief": {name: brief(row[name], digits) for name, digits in DIGITS.items()} | _allowed(row) | _fact(row),
    }


def _allowed(row: Mapping) -> dict[str, str]:
    """Return what is printed, as printed, and the accepted range if it is not the printed side itself."""
    word, accepted = row["published"].partition(" ")[0], row["accepted"]
    if word in NO_EFFECT:
        return {"published": f"{word} {accepted}", "accepted": ""}
    return {"published": row["published"], "accepted": accepted if row["kind"] == "number" else ""}


def _fact(row: Mapping) -> dict[str, str]:
    """Return no number for a fact that is true or false, which the ledger stores as 1 or 0."""
    is_fact = row["kind"] in ("exact", "universal") and not row["published"] and row["accepted"] == "1"
    return {"measured": ""} if is_fact else {}


def settings(case: str) -> dict[str, str]:
    """Return the settings in a case's name: "K = 5, width = log3" -> {"K": "5", "width": "log3"}."""
    parts = (part.partition(" = ") for part in re.split(r", (?=\w+ = )", case) if part)
    return {name: value for name, _, value in parts}


def table(cases: Sequence[Mapping]) -> dict:
    """Return the cases of a statement as a table that says once what its rows have in common.

    once : name -> value, which all rows share
    settings : names of the columns that tell the rows apart, followed by those of COLUMNS in `columns`
    rows : the measured cases, and the others if they are few
    why : the reason that all rows share; unmeasured : number of further cases, and their common reason
    """
    gone = Counter((c["verdict"], c["why"]) for c in cases if not c["measured"])
    rows = [c for c in cases if c["measured"] or gone[c["verdict"], c["why"]] == 1]
    names = list(dict.fromkeys(name for c in rows for name in c["settings"]))
    parts = {name: [c["settings"].get(name, "") for c in rows] for name in names}
    parts |= {name: [c["brief"][name] for c in rows] for name in ("published", "accepted", "runs")}
    parts["why"] = [c["why"] for c in rows]
    same = {name for name, values in parts.items() if len(rows) > 1 and len(set(values)) == 1}
    varies = [name for name in parts if name not in same and any(parts[name])]
    return {
        "once": {name: parts[name][0] for name in parts if name in same and name != "why" and parts[name][0]},
        "settings": [name for name in varies if name in names],
        "columns": [name for name in varies if name not in names],
        "rows": rows,
        "why": parts["why"][0] if "why" in same else "",
        "unmeasured": [(number, *key) for key, number in gone.items() if number > 1],
    }


def once(common: Mapping[str, str]) -> str:
    """Return what the rows of a table have in common: "K = 5; published: at least 5; 100 runs"."""
    named = {"published": "published: {}", "accepted": "accepted: {}", "runs": "{} runs"}
    parts = [named[k].format(v) if k in named else f"{words(k)} = {words(v)}" for k, v in common.items()]
    return "; ".join(parts)


def counts(statements: Iterable[Mapping]) -> dict[str, dict[str, int]]:
    """Count sentences, printed numbers and our own questions apart, for every place that shows such numbers."""
    statements = list(statements)
    return outcomes.grouped(statements, [case for one in statements for case in one["cases"]])


def columns(statements: Iterable[Mapping]) -> dict[str, dict[str, str]]:
    """Return the groups of the papers' statements, each with its states in words by class, that a table shows."""
    counted, rare = counts(statements)[outcomes.PRINTED], ("depends", "measured")
    numbers = outcomes.STATES[outcomes.PRINTED].items()
    return {
        outcomes.SENTENCES: outcomes.STATES[outcomes.SENTENCES],
        outcomes.PRINTED: {look: word for look, word in numbers if look not in rare or counted[word]},
    }


def in_words(counted: Mapping[str, Mapping[str, int]]) -> str:
    """Return the counts as a phrase: "8 sentences: 5 hold or are not refuted, 3 open; 1 question of our own"."""
    parts = []
    for name, states in counted.items():
        if total := sum(states.values()):
            number = several(total, name) if name != outcomes.OURS else f"{several(total, 'questions')} of our own"
            some = ", ".join(f"{whole(n)} {outcomes.in_number(n, word)}" for word, n in states.items() if n)
            parts.append(number if name == outcomes.OURS else f"{number}: {some}")
    return "; ".join(parts)


def several(number: int, nouns: str) -> str:
    """Return a number with its noun: "1 statement", "2 statements"; nouns: the plural."""
    return f"{whole(number)} {nouns[:-1] if number == 1 else nouns}"
