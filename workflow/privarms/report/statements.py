"""Statements of papers for people: the rows of ledger and statements with addresses, rounded numbers and tables."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import cast

from privarms.files.numbers import shown
from privarms.ledger import outcomes, rules
from privarms.ledger.cases import from_words
from privarms.ledger.files import read
from privarms.planning.statements import NO_EFFECT
from privarms.report.words import whole, words

DIGITS = {"measured": 4, "se": 2, "low": 4, "high": 4, "runs": 9}
# Numbers from this size on are written with an exponent, because a float cannot store all their digits.
LARGE = 1e15
# A statement with more cases is arranged as a grid, with at most this number of columns across. An assumption with more
# values than MANY only shows how much the result depends on our choices.
MANY, ACROSS = 4, 8
VARIANT = "variant"
# How a cell of a printed table is to be read, and a second pair of numbers in a case.
NUMBERS = "Each cell: published → measured."
RANGE = "In parentheses: the range of the value under all choices that we tried. The ledger lists the choices."
# The first sentences of a reason say only how its numbers lie, and which row of the case decides.
FROM_NUMBERS = "|".join(map(re.escape, (rules.CONTAINS_AN_END, rules.SMALLER_SCALE)))
END = r"(?:The row (at .+?)|(Another row)) gives (?:the )?((?:lower|upper) end|both ends) of the interval\."
EXTREME = re.compile(
    rf"(?:{FROM_NUMBERS})? ?"
    r"(?:(?P<row>Largest|Smallest|False)(?: of [\d,]+ rows,?)?(?P<place>.*?)\.(?= |$)|[\d,]+ instances\.)?"
    r"(?P<ends>(?: (?:The|Another) row .*?gives .*? of the interval\.)*)"
    r"(?: ?In [\d,]+ of the rows (?P<carried>one run makes up to \d+% of the mean)\.)?"
)
# What `once` names with a number, and that is no setting.
NUMERIC = ("published", "accepted", "runs")
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


def both_variants(statement: Mapping) -> str:
    """Return a statement's outcome, or those of the text and of the program if they differ."""
    printed, released = statement["as_printed"], statement["as_released"]
    differ = printed and released and printed != released
    return f"the text: {printed}; the program: {released}" if differ else statement["outcome"]


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
    # Every part of the pattern is optional.
    extreme = cast(re.Match, EXTREME.match(row["why"]))
    return row | {
        "anchor": f"case-{row['statement']}-{number}",
        "artifact": row["artifact"].removeprefix(f"{row['paper']}/"),
        "setting": words(", ".join(filter(None, (variant, row["case"])))),
        "settings": ({VARIANT: variant} if variant else {}) | from_words(row["case"]),
        "look": look(row["verdict"]),
        "between": "",
        "extreme": "; ".join(filter(None, (_place(extreme), *_ends(extreme), extreme["carried"]))),
        "reason": row["why"].removeprefix(extreme[0]).strip(),
        "brief": {name: brief(row[name], digits) for name, digits in DIGITS.items()} | _allowed(row) | _fact(row),
    }


def _place(extreme: re.Match) -> str:
    """Return which row of a case decides: "largest at epsilon = 1"."""
    return words(f"{extreme['row'].lower()}{extreme['place']}") if extreme["place"] else ""


def _ends(extreme: re.Match) -> list[str]:
    """Return which other rows give the ends of the interval: "upper end at epsilon = 4"."""
    return [words(f"{end} {place or other.lower()}") for place, other, end in re.findall(END, extreme["ends"])]


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


def table(cases: Sequence[dict]) -> dict:
    """Return the cases of a statement as a table that says once what its rows have in common.

    once : name -> value, which all rows share
    settings : names of the columns that tell the rows apart, followed by those of COLUMNS in `columns`
    rows : the measured cases, and the others if they are few; one for all values of an assumption that has many
    grid : the rows, as `grid` arranges them; None if they are few
    unmeasured : number of further cases, and their common reason
    """
    gone = Counter((c["verdict"], c["why"]) for c in cases if not c["measured"])
    rows = _entries([c for c in cases if c["measured"] or gone[c["verdict"], c["why"]] == 1])
    names = list(dict.fromkeys(name for c in rows for name in c["settings"]))
    parts = {name: [c["settings"].get(name, "") for c in rows] for name in names}
    parts |= {name: [c["brief"][name] for c in rows] for name in ("published", "accepted", "runs")}
    same = {name for name, values in parts.items() if len(rows) > 1 and len(set(values)) == 1}
    varies = [name for name in parts if name not in same and any(parts[name])]
    settings = [name for name in varies if name in names]
    return {
        "once": {name: parts[name][0] for name in parts if name in same and parts[name][0]},
        "settings": settings,
        "columns": [name for name in varies if name not in names],
        "rows": rows,
        "grid": grid(rows, settings) if len(rows) > MANY else None,
        "unmeasured": [(number, *key) for key, number in gone.items() if number > 1],
    }


def _entries(rows: Sequence[dict]) -> list[dict]:
    """Return one row for all cases that differ only in an assumption with many values, else the rows as they are.

    Such a row is the first case, with `between`, the range of all values, and with the joint outcome as verdict.
    """
    assumed = [from_words(case["assumes"]) for case in rows]
    names = dict.fromkeys(name for values in assumed for name in values)
    wide = [name for name in names if len({values[name] for values in assumed if name in values}) > MANY]
    groups: dict[tuple, list[dict]] = {}
    for case in rows:
        key = tuple(pair for pair in case["settings"].items() if pair[0] not in wide)
        groups.setdefault(key, []).append(case)
    return [_entry(some, wide) if len(some) > 1 else some[0] for some in groups.values()]


def _entry(cases: Sequence[dict], assumed: Iterable[str]) -> dict:
    found = outcomes.of_cases(cases)[0]
    values = [float(case["measured"]) for case in cases if case["measured"]]
    ends = [brief(str(value), DIGITS["measured"]) for value in (min(values), max(values))] if values else []
    settings = {name: value for name, value in cases[0]["settings"].items() if name not in assumed}
    between = " to ".join(ends) if len(set(values)) > 1 else ""
    return {**cases[0], "settings": settings, "verdict": found, "look": look(found), "between": between}


def grid(rows: Sequence[dict], settings: Sequence[str]) -> dict | None:
    """Return many cases as a table with one or two of their settings across, with the fewest lines; None if none fits.

    settings, across, lines : as `arranged`
    """
    rows, settings = _with_variant(rows, settings)
    found = [
        one
        for names in (*((name,) for name in settings), *combinations(settings, 2))
        if len(names) < len(settings) and (one := arranged(rows, settings, names))
    ]
    return min(found, key=lambda one: len(one["lines"]), default=None)


def arranged(rows: Sequence[Mapping], settings: Sequence[str], names: Sequence[str]) -> dict | None:
    """Return cases as a table with the settings `names` across; None if two cases have one place, or columns are many.

    across : a text per column
    settings : those that begin a line; lines : their values, and the case in each column (None for none)
    """
    across = list(dict.fromkeys(_values(case, names) for case in rows))
    if not 1 < len(across) <= ACROSS:
        return None
    down = [name for name in settings if name not in names]
    lines: dict[tuple, dict[tuple, Mapping]] = {}
    for case in rows:
        lines.setdefault(_values(case, down), {})[_values(case, names)] = case
    if sum(map(len, lines.values())) < len(rows):
        return None
    texts = [words(", ".join(filter(None, one))) for one in across]
    cells = [(list(map(words, key)), [line.get(one) for one in across]) for key, line in lines.items()]
    return {"settings": down, "across": texts, "lines": cells}


def side_by_side(stated: Iterable[Mapping]) -> tuple[list[str], dict[str, dict]]:
    """Return statements in one table whose columns are the values of one setting, the one that saves most lines.

    The texts of the columns, and by statement its lines as of `arranged`. Both are empty if no setting saves lines.
    """
    best: dict[str, dict] = {}
    saved = MANY
    of = {one["statement"]: _with_variant(one["table"]["rows"], one["table"]["settings"]) for one in stated}
    for name in dict.fromkeys(name for _, settings in of.values() for name in settings):
        found = {one: arranged(*parts, (name,)) for one, parts in of.items() if name in parts[1]}
        found = {one: lines for one, lines in found.items() if lines}
        fewer = sum(len(of[one][0]) - len(lines["lines"]) for one, lines in found.items())
        if fewer > saved and len(_columns(found)) <= ACROSS:
            best, saved = found, fewer
    return _columns(best), best


def _columns(found: Mapping[str, Mapping]) -> list[str]:
    return list(dict.fromkeys(text for one in found.values() for text in one["across"]))


def _with_variant(rows: Sequence[dict], settings: Sequence[str]) -> tuple[Sequence[dict], Sequence[str]]:
    """Return rows whose setting that decides the variant names it too: "as printed, text with c = 2"."""
    for name in (name for name in settings if name != VARIANT and VARIANT in settings):
        pairs = {_values(case, (VARIANT, name)) for case in rows}
        if len(pairs) == len({value for _, value in pairs}):
            both = [case["settings"] | {name: ", ".join(filter(None, _values(case, (VARIANT, name))))} for case in rows]
            rows = [case | {"settings": one} for case, one in zip(rows, both, strict=True)]
            return rows, [other for other in settings if other != VARIANT]
    return rows, settings


def _values(case: Mapping, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(case["settings"].get(name, "") for name in names)


def noted(statements: Sequence[dict]) -> list[str]:
    """Give every statement its reasons, and return those that several of them share, each a note below.

    `reasons` of a statement: pairs of a verdict and a reason. Its `notes` are the numbers of shared reasons.
    """
    found = {s["statement"]: _reasons(s) for s in statements}
    uses = Counter(reason for pairs in found.values() for reason in {reason for _, reason in pairs})
    shared = [reason for reason, number in uses.items() if number > 1]
    for statement in statements:
        pairs = found[statement["statement"]]
        statement["reasons"] = [pair for pair in pairs if pair[1] not in shared]
        statement["notes"] = list(dict.fromkeys(shared.index(why) + 1 for _, why in pairs if why in shared))
    return shared


def _reasons(statement: Mapping) -> list[tuple[str, str]]:
    pairs = ((case["verdict"], case["reason"]) for case in statement["cases"] if case["reason"])
    return list(dict.fromkeys(pairs))


def lacking(cases: Iterable[Mapping], datasets: Iterable[str]) -> list[str]:
    """Return the datasets, of those that are missing, that the reasons of unverifiable cases name."""
    reasons = " ".join(case["why"] for case in cases if case["verdict"] == "unverifiable").lower()
    return [name for name in datasets if re.search(rf"\b{name}\b", reasons)]


def once(common: Mapping[str, str]) -> str:
    """Return what the rows of a table have in common: "K = 5; published: at least 5; 100 runs"."""
    named = {"published": "published: {}", "accepted": "accepted: {}"}
    named["runs"] = "{} run" if common.get("runs") == "1" else "{} runs"
    parts = [named[k].format(v) if k in named else f"{words(k)} = {words(v)}" for k, v in common.items()]
    return "; ".join(parts)


def counts(statements: Iterable[Mapping]) -> dict[str, dict[str, int]]:
    """Count sentences, printed numbers and our own questions apart, for every place that shows such numbers."""
    statements = list(statements)
    return outcomes.grouped(statements, [case for one in statements for case in one["cases"]])


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
