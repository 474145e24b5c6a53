"""The closing summary of a run: failed jobs, outcomes, changed verdicts, and the paths of report and ledger."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from privarms.errors import PrivarmsError
from privarms.files.whole import write_text
from privarms.planning import paths
from privarms.report.words import verb

MOST_CHANGES = 10


def keep_previous_ledger(scale: str) -> None:
    """Copy the ledger that the run may replace, so the closing summary can compare both."""
    ledger = Path(paths.ledger(scale))
    if ledger.is_file():
        write_text(paths.previous_ledger(scale), ledger.read_text(encoding="utf-8"))


def show(scale: str, began: float, failed: bool = False) -> None:
    """Print the summary of a run on stderr; began: its start in seconds since the epoch."""
    lines = [*(failures(scale, began) if failed else ()), *results(scale, began)]
    if lines:
        print("\n".join(lines), file=sys.stderr)


def failures(scale: str, began: float) -> Iterator[str]:
    """Return one entry per job that this run began but did not finish, with the reason and the log."""
    logs = Path(paths.logs(scale))
    for log in sorted(logs.rglob("*.log")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        if log.stat().st_mtime >= began and not (lines and lines[-1].endswith(" done")):
            errors = [line.partition(" error: ")[2] for line in lines if " error: " in line]
            if not errors and any(line.endswith(" failed") for line in lines):
                # The last line of a traceback names the error.
                errors = lines
            reason = errors[-1] if errors else "interrupted, killed or out of memory"
            kind = "failed" if errors else "not finished"
            yield f"{kind}: {' '.join(log.relative_to(logs).with_suffix('').parts)}: {reason}\n  log: {log}"
    yield "Continue with the same command; finished jobs do not run again."


def results(scale: str, began: float) -> Iterator[str]:
    """Return the lines with counts, changed verdicts, and the paths of the files that this run wrote."""
    files = {"report": paths.report(scale), "ledger": paths.ledger(scale), "audits": paths.audit(scale)}
    written = {name: file for name, file in files.items() if os.path.isfile(file) and os.path.getmtime(file) >= began}
    try:
        yield from counts(scale) if "ledger" in written else counts_of_papers(scale, began)
    except PrivarmsError as error:
        yield f"the ledger cannot be summarised: {error}"
    if "audits" in written:
        yield from audits(written["audits"])
    yield from (f"{name}: {os.path.abspath(file)}" for name, file in written.items())


def audits(file: str) -> Iterator[str]:
    """Return the counts of audits by verdict, and the names with a violation or without an audit."""
    # Importing pandas and scipy takes seconds, which would delay the start of a run.
    import pandas as pd

    from privarms.audits import verdicts

    lines = verdicts.summary(pd.read_csv(file))
    subjects = {word: sorted({*lines.loc[lines["verdict"] == word, "subject"]}) for word in verdicts.VERDICTS}
    yield "audits: " + ", ".join(f"{len(names)} {word}" for word, names in subjects.items() if names)
    for word in (verdicts.NOT_PRIVATE, verdicts.NOT_AUDITED):
        if subjects[word]:
            yield f"  {word}: {', '.join(subjects[word])}"


def counts_of_papers(scale: str, began: float) -> Iterator[str]:
    """Return the counts of cases by verdict, per paper or artifact that this run judged, if it made no ledger."""
    from privarms.ledger import files, rules

    folder = Path(paths.cases(scale, "*")).parent
    for file in sorted(folder.rglob("*.csv")):
        if file.stat().st_mtime >= began:
            rows, name = files.read(file), file.relative_to(folder).with_suffix("")
            yield f"{name}: {counted(rows, 'verdict', rules.VERDICTS)}, of {len(rows):,} cases"
            yield f"cases of {name}: {file.absolute()}"


def counts(scale: str) -> Iterator[str]:
    """Return the counts of statements and cases in the ledger, and its changes since the previous ledger."""
    # Importing pandas takes a second, which would delay the start of a run.
    from privarms.ledger import files, outcomes, rules

    previous = paths.previous_ledger(scale)
    rows, statements = files.read(paths.ledger(scale)), files.read(paths.statements(scale), outcomes.COLUMNS)
    yield from in_words(statements, rows)
    yield f"cases: {counted(rows, 'verdict', rules.VERDICTS)}, of {len(rows):,}"
    if os.path.isfile(previous):
        try:
            lines = changed(files.read(previous), rows)
        except PrivarmsError:
            return  # written by another version
        yield f"since the last run: {len(lines):,} verdicts changed"
        yield from (f"  {line}" for line in lines[:MOST_CHANGES])
        if len(lines) > MOST_CHANGES:
            yield f"  and {len(lines) - MOST_CHANGES:,} more; the ledger of the last run is {previous}"


def in_words(statements: Sequence[Mapping], rows: Sequence[Mapping]) -> Iterator[str]:
    """Yield a line about the papers' sentences, one about their printed numbers, one about our own questions."""
    from privarms.ledger import outcomes

    for name, states in outcomes.grouped(statements, rows).items():
        total = sum(states.values())
        if total:
            parts = (f"{number:,} {outcomes.in_number(number, word)}" for word, number in states.items() if number)
            yield f"{name}: {', '.join(parts)}, of {total:,}"


def changed(before: Sequence[Mapping], after: Sequence[Mapping]) -> list[str]:
    """Return one line per case that was added, was removed or has another verdict."""
    keys = ("statement", "variant", "case")
    earlier, later = (
        {tuple(row[k] for k in keys): (row["verdict"], row["measured"]) for row in rows} for rows in (before, after)
    )
    lines = []
    for key in earlier | later:
        (then, value), (now, other) = (rows.get(key, ("none", "")) for rows in (earlier, later))
        if then != now:
            numbers = f" (measured {value or 'nothing'}, now {other or 'nothing'})" if value != other else ""
            lines.append(f"{', '.join(filter(None, key))}: {then} -> {now}{numbers}")
    return lines


def counted(rows: Sequence[Mapping], column: str, words: Sequence[str]) -> str:
    """Return the number of rows per word in a column, such as "3 agree, 1 differs"."""
    count = Counter(row[column] for row in rows)
    return ", ".join(f"{count[word]:,} {verb(word, count[word])}" for word in words if count[word])
