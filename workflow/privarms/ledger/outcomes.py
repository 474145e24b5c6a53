"""The outcome of a statement, from the verdicts of its cases."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from privarms.files.numbers import joined
from privarms.ledger.cases import from_words
from privarms.ledger.rules import BAD, GOOD, VERDICTS
from privarms.planning.statements import in_headline

Row = TypeVar("Row", bound=Mapping)
ONLY_RELEASED = "only in the program"
COLUMNS = (
    *("statement", "paper", "artifact", "kind", "quote", "place", "outcome", "as_printed", "as_released", "decides"),
    *("cases", *VERDICTS, "post_hoc", "whose", "headline"),
)


def statements(rows: Sequence[Mapping], about: Mapping[str, Mapping] | None = None) -> Iterator[dict]:
    """Yield one row of `statements.csv` per statement.

    rows: of the ledger; about: name -> `Statement.about`
    """
    groups: dict[str, list[Mapping]] = {}
    for row in rows:
        groups.setdefault(row["statement"], []).append(row)
    for name, cases in groups.items():
        printed, released = ([c for c in cases if (c["variant"] == "as_released") is r] for r in (False, True))
        found = [of_cases(some) for some in (printed, released)]
        (as_printed, one), (as_released, other) = found
        count = Counter(case["verdict"] for case in cases)
        yield {
            **{key: cases[0][key] for key in ("statement", "paper", "artifact", "kind", "quote", "place")},
            "outcome": joint(as_printed, as_released),
            "as_printed": as_printed,
            "as_released": as_released,
            "decides": ", ".join(dict.fromkeys([*one, *other])),
            "cases": len(cases),
            **{verdict: count[verdict] for verdict in VERDICTS},
            "post_hoc": sum(bool(case["post_hoc"]) for case in cases),
            "whose": "ours" if (about or {}).get(name, {}).get("ours") else "paper",
            "headline": _headline((about or {}).get(name, {}).get("headline", ""), cases),
        }


def _headline(template: str, cases: Sequence[Mapping]) -> str:
    """Return the headline with the numbers of the first case that is bad, or else of the first one; "" without one."""
    known = [case for case in cases if case["measured"] not in ("", None) and case["verdict"] != "unverifiable"]
    first = next((case for case in known if case["verdict"] in BAD), known[0] if known else None)
    return in_headline(template, first) if template and first else ""


def joint(as_printed: str, as_released: str) -> str:
    """Return the outcome over both variants: the text's, unless only the program's result is what the paper says."""
    if not as_printed or not as_released:
        return as_printed or as_released
    return ONLY_RELEASED if as_printed in BAD and as_released in GOOD else as_printed


def of_cases(cases: Sequence[Mapping]) -> tuple[str, list[str]]:
    """Return the outcome of one variant's cases, and the assumptions that decide it.

    Cases that differ only in a panel must all have the verdict. A case without some assumption, such as a panel that
    has none, belongs to all of its values. "" without cases.
    """
    if not cases:
        return "", []
    assumed = {frozenset(values.items()): values for values in (from_words(case["assumes"]) for case in cases)}
    fullest = {key: one for key, one in assumed.items() if not any(key < other for other in assumed)}
    verdicts = [
        (one, _worst([case["verdict"] for case in cases if from_words(case["assumes"]).items() <= key]))
        for key, one in fullest.items()
    ]
    found = {verdict for _, verdict in verdicts}
    if found & set(BAD) and len(found) > 1:
        names = _deciding(verdicts)
        return f"depends on {joined(names)}", names
    return _worst([verdict for _, verdict in verdicts]), []


def _worst(verdicts: Sequence[str]) -> str:
    """Return the verdict of a sentence about several panels: bad before undecided before unverifiable before good."""
    for some in (BAD, ("undecided",), ("unverifiable",), GOOD, ("measured",)):
        for verdict in verdicts:
            if verdict in some:
                return verdict
    return "unverifiable"


def _deciding(verdicts: Sequence[tuple[Mapping[str, str], str]]) -> list[str]:
    """Return the assumptions in which two cases differ, and in no other one that both have, of which one is bad."""
    names = dict.fromkeys(name for assumed, _ in verdicts for name in assumed)
    bad = [assumed for assumed, verdict in verdicts if verdict in BAD]
    others = [assumed for assumed, verdict in verdicts if verdict not in BAD]
    pairs = [[name for name in one if name in other and one[name] != other[name]] for one in bad for other in others]
    return [name for name in names if [name] in pairs] or list(names)


SENTENCES, PRINTED, OURS = "sentences", "printed numbers", "questions of our own"
# Group -> its states in words.
STATES = {
    SENTENCES: {
        "good": "hold or are not refuted",
        "bad": "fail or are refuted",
        "depends": "depend on an assumption",
        "measured": "measured",
        "open": "open",
    },
    PRINTED: {
        "good": "agree",
        "bad": "differ",
        "depends": "depend on an assumption",
        "measured": "measured",
        "open": "open",
    },
    OURS: {
        "good": "hold",
        "bad": "fail",
        "depends": "depend on an assumption",
        "measured": "measured",
        "open": "open",
    },
}


def group(row: Mapping) -> str:
    """Return where a statement is counted: sentences, printed numbers, or questions of our own."""
    return OURS if row["whose"] == "ours" else PRINTED if row["kind"] == "number" else SENTENCES


def state(outcome: str) -> str:
    """Return the state, a key of STATES, of an outcome or of a verdict."""
    if outcome.startswith("depends"):
        return "depends"
    if outcome in (*GOOD, ONLY_RELEASED):
        return "good"
    return "bad" if outcome in BAD else "measured" if outcome == "measured" else "open"


def numbers(cases: Sequence[Row]) -> list[list[Row]]:
    """Return the cases of each printed number: those that differ only in the variant and in assumptions."""
    groups: dict[tuple, list[Row]] = {}
    for case in cases:
        assumed = from_words(case["assumes"]).items()
        panel = tuple(pair for pair in from_words(case["case"]).items() if pair not in assumed)
        groups.setdefault(panel, []).append(case)
    return list(groups.values())


def counted(statement: Mapping, cases: Sequence[Row]) -> Iterator[tuple[str, str, Sequence[Row]]]:
    """Yield what a statement adds to the counts: a group and a state of STATES, and the cases behind them.

    A sentence counts once. A printed table is one statement, and each of its numbers counts once.
    """
    name = group(statement)
    if name != PRINTED:
        yield name, state(statement["outcome"]), cases
        return
    for some in numbers(cases):
        printed, released = ([c for c in some if (c["variant"] == "as_released") is r] for r in (False, True))
        yield name, state(joint(of_cases(printed)[0], of_cases(released)[0])), some


def grouped(statements: Iterable[Mapping], rows: Iterable[Mapping]) -> dict[str, dict[str, int]]:
    """Count the outcomes of sentences, of printed numbers and of our own questions apart, in words.

    statements, rows: of `statements.csv` and `ledger.csv`
    """
    cases: dict[str, list[Mapping]] = {}
    for row in rows:
        cases.setdefault(row["statement"], []).append(row)
    counts = {name: dict.fromkeys(words.values(), 0) for name, words in STATES.items()}
    for statement in statements:
        for name, found, _ in counted(statement, cases[statement["statement"]]):
            counts[name][STATES[name][found]] += 1
    return counts


def in_number(number: int, words: str) -> str:
    """Return the words of a state for one statement: "hold or are not refuted" -> "holds or is not refuted"."""
    if number != 1 or words in ("measured", "open"):
        return words
    verb, _, rest = words.partition(" ")
    return f"{verb}s {rest.replace('or are', 'or is')}".strip()
