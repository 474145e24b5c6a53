"""Format names with underscores and long numbers for readers."""

import re

from privarms.files.revision import PROJECT

# A name with underscores that is not a symbol (c_e, eps_m) and not part of a path, call or address; or a number with
# an exponent.
PIECES = re.compile(
    r"(?<![\w/.=$&,'-])(?P<name>(?:as|[a-z][a-z0-9]{2,})(?:_[a-z0-9]{2,})+)(?![\w=/(<>'-]|\.\w)"
    r"|(?<![\w.])(?P<number>\d(?:\.\d+)?e\+\d\d)(?!\w|\.\d)"
)
# Longer whole numbers are written in groups of three digits.
LONG = 4


def whole(value: float) -> str:
    """Return a whole number as text, with groups of three digits if it is long."""
    digits = f"{value:.0f}"
    return f"{int(digits):,}".replace(",", "\u202f") if len(digits.lstrip("-")) > LONG else digits


def words(text: str) -> str:
    """Return a text with blanks instead of underscores in names, and whole numbers without an exponent."""
    return PIECES.sub(
        lambda piece: whole(float(piece[0])) if piece["number"] else piece[0].replace("_", " "), text.replace("`", "")
    )


def verb(outcome: str, number: int) -> str:
    """Return an outcome as the predicate of a number of statements: 1 "holds", 2 "hold", 2 "undecided"."""
    first, _, rest = outcome.partition(" ")
    if number == 1 or first not in ("agrees", "differs", "holds", "fails", "depends"):
        return outcome
    return f"{first.removesuffix('s')} {rest}".strip()


def glossary() -> list[tuple[str, str]]:
    """Return the words of docs/glossary.md with their meanings."""
    lines = (PROJECT / "docs/glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return [(word, meaning) for word, meaning in rows[1:]]
