"""What changed between two ledgers: claims that are new, gone, or judged otherwise."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

# What the claim says and how it is judged; a number that moves within its verdict is no change of these.
JUDGED = ("verdict", "published", "tolerance", "data")


class Changes(NamedTuple):
    """The rows of the later ledger that are new, those of the earlier one that are gone, and pairs that differ.

    judged: another verdict; restated: the same verdict on another published number, tolerance or kind of data;
    moved: only other numbers were measured
    """

    new: list[Mapping]
    gone: list[Mapping]
    judged: list[tuple[Mapping, Mapping]]
    restated: list[tuple[Mapping, Mapping]]
    moved: list[tuple[Mapping, Mapping]]

    @property
    def verdicts(self) -> int:
        """How many verdicts are new, gone or changed."""
        return len(self.new) + len(self.gone) + len(self.judged)


def compare(before: Sequence[Mapping], after: Sequence[Mapping]) -> Changes:
    """The changes from the rows of one ledger (`ledger.read`) to those of another."""
    earlier, later = ({(row["claim"], row["variant"]): row for row in rows} for rows in (before, after))
    both = [(earlier[key], row) for key, row in later.items() if key in earlier]
    judged = [(a, b) for a, b in both if a["verdict"] != b["verdict"]]
    same = [(a, b) for a, b in both if a["verdict"] == b["verdict"]]
    restated = [(a, b) for a, b in same if any(a[key] != b[key] for key in JUDGED)]
    return Changes(
        [row for key, row in later.items() if key not in earlier],
        [row for key, row in earlier.items() if key not in later],
        judged,
        restated,
        [(a, b) for a, b in same if (a, b) not in restated and a["reproduced"] != b["reproduced"]],
    )


def sentence(changes: Changes) -> str:
    """How many of each, in a line."""
    counts = {
        "judged otherwise": changes.judged,
        "new": changes.new,
        "gone": changes.gone,
        "stated otherwise": changes.restated,
        "measured otherwise with the same verdict": changes.moved,
    }
    return ", ".join(f"{len(rows):,} {words}" for words, rows in counts.items() if rows) or "no claim changed"


def lines(changes: Changes, most: int | None = None) -> Iterator[str]:
    """A line for every verdict that changed, is new or gone; at most so many, and then how many more there are."""
    said = [f"{named(b)}: {a['verdict']} -> {b['verdict']}{measured(a, b)}" for a, b in changes.judged]
    said += [f"{named(row)}: new, {row['verdict']}" for row in changes.new]
    said += [f"{named(row)}: gone, was {row['verdict']}" for row in changes.gone]
    yield from said[:most]
    if most is not None and len(said) > most:
        yield f"and {len(said) - most:,} more"


def named(row: Mapping) -> str:
    """A claim in one of its variants."""
    return f"{row['claim']} ({row['variant']})" if row["variant"] else row["claim"]


def measured(before: Mapping, after: Mapping) -> str:
    """What was measured then and now, where it is not the same."""
    then, now = (row["reproduced"] or "nothing" for row in (before, after))
    return "" if then == now else f" (measured {then}, now {now}; published {after['published']})"


def counted(rows: Sequence[Mapping], column: str, words: Sequence[str]) -> str:
    """How many rows have each of these words in a column: "3 hold, 1 does not"."""
    count = Counter(row[column] for row in rows)
    return ", ".join(f"{count[word]:,} {word}" for word in words if count[word])
