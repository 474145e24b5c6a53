"""Changes between two ledgers: claims that are new, gone, or have another verdict or another measured number."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Changes(NamedTuple):
    """The new rows of the later ledger, the rows of the earlier one that are gone, and pairs (earlier, later).

    judged: with another verdict; moved: with the same verdict, and another number, tolerance or kind of data
    """

    new: list[Mapping]
    gone: list[Mapping]
    judged: list[tuple[Mapping, Mapping]]
    moved: list[tuple[Mapping, Mapping]]

    @property
    def verdicts(self) -> int:
        """The number of verdicts that are new, gone or changed."""
        return len(self.new) + len(self.gone) + len(self.judged)


def compare(before: Sequence[Mapping], after: Sequence[Mapping]) -> Changes:
    """Return the changes between the rows of two ledgers (`ledger.read`)."""
    earlier, later = ({(row["claim"], row["variant"]): row for row in rows} for rows in (before, after))
    both = [(earlier[key], row) for key, row in later.items() if key in earlier]
    same = [(a, b) for a, b in both if a["verdict"] == b["verdict"]]
    return Changes(
        [row for key, row in later.items() if key not in earlier],
        [row for key, row in earlier.items() if key not in later],
        [(a, b) for a, b in both if a["verdict"] != b["verdict"]],
        [(a, b) for a, b in same if any(a[k] != b[k] for k in ("published", "reproduced", "tolerance", "data"))],
    )


def sentence(changes: Changes) -> str:
    """Return the number of changes of each kind in one line."""
    counts = {
        "with another verdict": changes.judged,
        "new": changes.new,
        "gone": changes.gone,
        "with other numbers and the same verdict": changes.moved,
    }
    return ", ".join(f"{len(rows):,} {words}" for words, rows in counts.items() if rows) or "no claim changed"


def lines(changes: Changes, most: int | None = None) -> Iterator[str]:
    """Yield a line per verdict that changed, is new or gone: at most `most`, then the number of the others."""
    every = [f"{named(b)}: {a['verdict']} -> {b['verdict']}{_measured(a, b)}" for a, b in changes.judged]
    every += [f"{named(row)}: new, {row['verdict']}" for row in changes.new]
    every += [f"{named(row)}: gone, was {row['verdict']}" for row in changes.gone]
    yield from every[:most]
    if most is not None and len(every) > most:
        yield f"and {len(every) - most:,} more"


def named(row: Mapping) -> str:
    """Return the name of a claim with its variant."""
    return f"{row['claim']} ({row['variant']})" if row["variant"] else row["claim"]


def _measured(before: Mapping, after: Mapping) -> str:
    then, now = (row["reproduced"] or "nothing" for row in (before, after))
    return "" if then == now else f" (measured {then}, now {now}; published {after['published']})"


def counted(rows: Sequence[Mapping], column: str, words: Sequence[str]) -> str:
    """Return the number of rows with each of these words in a column: "3 reproduced, 1 differs"."""
    count = Counter(row[column] for row in rows)
    return ", ".join(f"{count[word]:,} {word}" for word in words if count[word])
