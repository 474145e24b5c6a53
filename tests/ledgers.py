"""A made-up ledger with every kind, verdict and outcome, for the tests of what shows ledgers."""

from pathlib import Path

from privarms.ledger import files, outcomes
from privarms.ledger.cases import COLUMNS

NO_DATA = "The data of taxi are not there."
MEASURED = {"measured": "5.0123456789", "se": "0.0123", "low": "4.9717", "high": "5.0529123", "runs": "100000"}


def case(statement: str, kind: str, verdict: str, **values: str) -> dict[str, str]:
    """Return a row of the ledger with a measured value; values: other columns."""
    name = statement.partition("/")[2]
    row = dict.fromkeys(COLUMNS, "")
    row |= {"statement": statement, "paper": statement.partition("/")[0], "kind": kind, "verdict": verdict}
    row |= {"artifact": f"{row['paper']}/fig1", "quote": f"The quote of {name}", "place": "Section 5"}
    row |= {"test": f"The test of {name}.", "published": "at least 4", "accepted": "at least 4", "data": "simulated"}
    return row | MEASURED | values


def unmeasured(statement: str, kind: str, **values: str) -> dict[str, str]:
    """Return a row without a value, because data are missing."""
    return case(statement, kind, "unverifiable", **dict.fromkeys(MEASURED, ""), why=NO_DATA) | values


def cell(method: str, verdict: str, published: str) -> dict[str, str]:
    """Return a row for a cell of a printed table."""
    row = case("one2001/table_1", "number", verdict, artifact="one2001/table1", quote="Table 1", place="Table 1")
    return row | {"case": f"dataset = adult, method = {method}", "published": published, "accepted": "4 to 6"}


def number(row: dict) -> tuple[str, str]:
    """Return what a row is about without its variant and its assumption, `rate`."""
    return row["statement"], row["case"].partition(", rate")[0]


ROWS = [
    case("one2001/five_times", "comparison", "holds", case="width = log3", assumes="width = log3"),
    case("one2001/five_times", "comparison", "fails", case="width = exact", assumes="width = exact", why="Wide."),
    case("one2001/bias", "number", "differs", variant="as_printed", published="0.110", accepted="0.1 to 0.12"),
    case("one2001/bias", "number", "agrees", variant="as_released", published="0.110", accepted="0.1 to 0.12"),
    cell("abse", "agrees", "5.01"),
    cell("linear", "differs", "7"),
    cell("nn", "undecided", "5.1") | {"case": "dataset = adult, method = nn, rate = 0.01", "assumes": "rate = 0.01"},
    cell("nn", "undecided", "5.1") | {"case": "dataset = adult, method = nn, rate = 0.1", "assumes": "rate = 0.1"},
    *(unmeasured("one2001/table_1", "number", case=f"dataset = taxi, method = {m}", published="1") for m in ("a", "b")),
    case("one2001/theorem", "universal", "refuted", published="ratio at_most", accepted="at most 1", why="At K = 2."),
    case("one2001/lemma", "universal", "not refuted"),
    case("one2001/identity", "exact", "true", se="", runs="", low="5.0123456789", high="5.0123456789"),
    case("one2001/sizes", "exact", "false"),
    case("one2001/comparable", "words", "measured", published="", accepted=""),
    case("one2001/close", "comparison", "undecided", post_hoc="The measure was changed."),
    case("one2001/conjecture", "comparison", "fails", place="", artifact="one2001/appendix"),
    unmeasured("two2002/guess", "comparison", artifact="two2002/nowhere", data="stand-in"),
]
ABOUT = {
    "one2001/five_times": {"headline": "It is {measured:.2f} (from {low:.1f}) & {published} is printed."},
    "one2001/conjecture": {"ours": True},
}
# What `outcomes.grouped` counts: each sentence and each printed number once.
SENTENCES = {
    "hold or are not refuted": 2,
    "fail or are refuted": 2,
    "depend on an assumption": 1,
    "measured": 1,
    "open": 2,
}
PRINTED = {"agree": 2, "differ": 1, "depend on an assumption": 0, "measured": 0, "open": 3}


def write(folder: Path, rows: list[dict] | None = None, about: dict | None = None) -> tuple[Path, Path]:
    """Write ledger.csv and statements.csv in a folder and return their paths."""
    rows = ROWS if rows is None else rows
    ledger, statements = folder / "ledger.csv", folder / "statements.csv"
    files.write(rows, ledger, COLUMNS)
    files.write(list(outcomes.statements(rows, ABOUT if about is None else about)), statements, outcomes.COLUMNS)
    return ledger, statements
