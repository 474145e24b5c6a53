"""What a user should know about a prepared dataset: rows that were left out, and doubtful content.

The preparation and the end of a run print these lines. Only standard modules are imported, because a run imports this
module at its start.
"""

from collections.abc import Mapping


def remarks(facts: Mapping) -> list[str]:
    """Return one line for the rows that were left out, if any, and the remarks of the preparation.

    facts: about a prepared dataset, as `preparation.prepare` returns them; there are no lines about a stand-in, whose
    rows are generated
    """
    if facts["data"] == "stand-in":
        return []
    left_out = [_left_out(facts)] if facts["dropped"] else []
    return [*left_out, *facts.get("remarks", ())]


def _left_out(facts: Mapping) -> str:
    files, counts, first = facts["files"], {}, {}
    for file, account in files.items():
        # A module of the user's own may give no reasons.
        for reason, entry in account.get("dropped_because", {}).items():
            counts[reason] = counts.get(reason, 0) + entry["rows"]
            of_file = f" of {file}" if len(files) > 1 else ""
            first.setdefault(reason, f"first row {entry['first_row']}{of_file}")
    reasons = sorted(counts, key=lambda reason: counts[reason], reverse=True)
    because = ", ".join(f"{counts[reason]:,} for {reason} ({first[reason]})" for reason in reasons)
    return f"{facts['dropped']:,} of {facts['rows']:,} rows left out{': ' if because else ''}{because}"
