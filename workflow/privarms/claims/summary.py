"""The closing summary of a run: failed jobs, outcomes, changed verdicts, and where report and ledger are."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from privarms.errors import PrivarmsError
from privarms.files.whole import write_text
from privarms.studies import paths

MOST_CHANGES = 10


def keep_previous_ledger(scale: str) -> None:
    """Copy the ledger that the run may replace, for the comparison at its end."""
    ledger = Path(paths.ledger(scale))
    if ledger.is_file():
        write_text(paths.previous_ledger(scale), ledger.read_text(encoding="utf-8"))


def show(scale: str, began: float, failed: bool = False) -> None:
    """Print the summary of a run on stderr; began: in seconds since the epoch."""
    lines = [*(failures(scale, began) if failed else ()), *results(scale, began)]
    if lines:
        print("\n".join(lines), file=sys.stderr)


def failures(scale: str, began: float) -> Iterator[str]:
    """Name the jobs that began in this run and did not finish, each with the reason and its log."""
    logs = Path(paths.logs(scale))
    for log in sorted(logs.rglob("*.log")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        if log.stat().st_mtime >= began and not (lines and lines[-1].endswith(" done")):
            errors = [line.partition(" error: ")[2] for line in lines if " error: " in line]
            if not errors and any(line.endswith(" failed") for line in lines):
                # The last line of a traceback.
                errors = lines
            reason = errors[-1] if errors else "interrupted, killed or out of memory"
            kind = "failed" if errors else "not finished"
            yield f"{kind}: {' '.join(log.relative_to(logs).with_suffix('').parts)}: {reason}\n  log: {log}"
    yield "Continue with the same command; finished jobs do not run again."


def results(scale: str, began: float) -> Iterator[str]:
    """Count statements and claims, list changed verdicts, and name report and ledger, if this run wrote them."""
    files = {"report": paths.report(scale), "ledger": paths.ledger(scale), "audits": paths.audit(scale)}
    written = {name: file for name, file in files.items() if os.path.isfile(file) and os.path.getmtime(file) >= began}
    try:
        yield from counts(scale) if "ledger" in written else counts_of_papers(scale, began)
    except PrivarmsError as error:
        yield f"no summary of the ledger: {error}"
    if "audits" in written:
        yield from audits(written["audits"])
    yield from (f"{name}: {os.path.abspath(file)}" for name, file in written.items())


def audits(file: str) -> Iterator[str]:
    """Count what was audited by verdict, and name what is not private as claimed or was not audited."""
    # pandas and scipy take seconds to import; the start of a run does not wait for them.
    import pandas as pd

    from privarms.audits import verdicts

    lines = verdicts.summary(pd.read_csv(file))
    subjects = {word: sorted({*lines.loc[lines["verdict"] == word, "subject"]}) for word in verdicts.VERDICTS}
    yield "audits: " + ", ".join(f"{len(names)} {word}" for word, names in subjects.items() if names)
    for word in (verdicts.NOT_PRIVATE, verdicts.NOT_AUDITED):
        if subjects[word]:
            yield f"  {word}: {', '.join(subjects[word])}"


def counts_of_papers(scale: str, began: float) -> Iterator[str]:
    """Count the claims by verdict of each paper whose claims this run measured, where it made no ledger."""
    from privarms.claims import ledger

    for file in sorted(Path(paths.claims(scale, "*")).parent.glob("*.csv")):
        if file.stat().st_mtime >= began:
            rows = ledger.read(file)
            yield f"{file.stem}: {counted(rows, 'verdict', ledger.VERDICTS)}, of {len(rows):,} claims"
            yield f"claims of {file.stem}: {file.absolute()}"


def counts(scale: str) -> Iterator[str]:
    """Count the ledger's statements by outcome and claims by verdict, and compare it with the previous ledger."""
    # pandas takes a second to import; the start of a run does not wait for it.
    from privarms.claims import ledger

    previous = paths.previous_ledger(scale)
    rows, statements = ledger.read(paths.ledger(scale)), ledger.read_statements(paths.statements(scale))
    yield f"statements: {counted(statements, 'outcome', ledger.OUTCOMES)}, of {len(statements):,}"
    yield f"claims: {counted(rows, 'verdict', ledger.VERDICTS)}, of {len(rows):,}"
    if os.path.isfile(previous):
        lines = changed(ledger.read(previous), rows)
        yield f"since the last run: {len(lines):,} verdicts changed"
        yield from (f"  {line}" for line in lines[:MOST_CHANGES])
        if len(lines) > MOST_CHANGES:
            yield f"  and {len(lines) - MOST_CHANGES:,} more; the ledger of the last run is {previous}"


def changed(before: Sequence[Mapping], after: Sequence[Mapping]) -> list[str]:
    """Return a line for each claim of two ledgers that is new or gone or has another verdict."""
    earlier, later = ({(row["claim"], row["variant"]): row for row in rows} for rows in (before, after))
    lines = []
    for key in earlier | later:
        (then, value), (now, other) = (
            (rows[key]["verdict"], rows[key]["reproduced"]) if key in rows else ("none", "")
            for rows in (earlier, later)
        )
        if then != now:
            numbers = f" (measured {value or 'nothing'}, now {other or 'nothing'})" if value != other else ""
            lines.append(f"{' '.join(filter(None, key))}: {then} -> {now}{numbers}")
    return lines


def counted(rows: Sequence[Mapping], column: str, words: Sequence[str]) -> str:
    """Return the number of rows with each of these words in a column: "3 reproduced, 1 differs"."""
    count = Counter(row[column] for row in rows)
    return ", ".join(f"{count[word]:,} {word}" for word in words if count[word])
