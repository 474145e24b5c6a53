"""Statements of papers as the page shows them: all claims about one, what was measured, and what would change it."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from privarms.claims.ledger import OUTCOMES, read, read_statements
from privarms.claims.verdict import VERDICTS, Measured, Region, region
from privarms.errors import PrivarmsError
from privarms.plots.tables import shown
from privarms.report.words import VARIANTS, whole
from privarms.studies.claims import headline

# Of a claim for which no budget is stated.
NO_EPSILON = "-"
# What scale quick measured of a claim whose setting is larger: no verdict, but a number.
SMALL = "measured small"
WORDS = (*VERDICTS, SMALL)

# An outcome looks like the verdict that it is nearest to.
LOOKS = ("reproduced", "inconclusive", "released", "differs", "unverifiable", "small")
OUTCOME_WORDS = (*OUTCOMES, SMALL)
OUTCOME_LOOKS = dict(zip(OUTCOME_WORDS, LOOKS, strict=True))
DIGITS = {"published": 6, "reproduced": 4, "se": 2, "low": 4, "high": 4, "margin": 2, "replicates": 9, "tolerance": 6}
# A statement says so itself where its tolerance is younger than the first look at the value.
YOUNGER = re.compile(r"(?i)post hoc|not blind|\b(added|put|put so) (after|when)\b")
# A number from here on would be written with an exponent, or has too many digits to be whole.
LARGE = 1e15


def brief(text: str, digits: int = 6) -> str:
    """A number rounded to `digits` significant digits and long whole ones in groups of three; other texts as they are.

    The groups are set apart by narrow no-break spaces.
    """
    try:
        value = float(text)
    except ValueError:
        return text
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    rounded = shown(value, digits)
    if "e+" in rounded and abs(value) < LARGE:
        rounded = str(int(float(rounded)))
    sign, digits_only = ("−", rounded[1:]) if rounded.startswith("-") else ("", rounded)
    return sign + (whole(int(digits_only)) if digits_only.isdigit() else digits_only)


def of_papers(
    ledger, statements, papers: Sequence[Mapping], scale: str, at_paper_scale: Mapping[tuple[str, str], str]
) -> list[dict]:
    """The statements of all papers, in the order of the ledger, each with its claims.

    papers: {key, claims: as `studies.claims.load` gives them, or nothing}; at_paper_scale: (claim, variant) -> verdict
    A statement: {name, anchor, paper, text, place, ours, outcome, claims: [...], artifact: that of its first claim}. A
    claim: the ledger's row with `anchor`, `test`, `shown` (a word of WORDS), `brief`, `change`, `at_paper_scale`,
    `epsilon` (at which it is measured, with blanks between, or NO_EPSILON), `because` (why it differs), `headline`
    (with its numbers; nothing for an unverifiable claim), and `row` and `column` of the published table where it
    stands.
    Raises PrivarmsError as `ledger.read` does, and for a paper that is not on the page.
    """
    settings = {
        (f"{paper['key']}/{claim['claim']}", claim.get("variant", "")): claim
        for paper in papers
        for claim in paper.get("claims", [])
    }
    known = {row["statement"]: row for row in read_statements(statements)}
    groups: dict[str, list[dict]] = {}
    keys, anchors = sorted(paper["key"] for paper in papers), set()
    for number, row in enumerate(read(ledger), start=2):
        if row["paper"] not in keys:
            raise PrivarmsError(
                f"{ledger}: line {number}, column paper: {row['paper']!r} is not one of {', '.join(keys)}."
            )
        setting = settings.get((row["claim"], row["variant"]), {})
        claim = _claim(row, setting, scale, at_paper_scale.get((row["claim"], row["variant"]), ""))
        if claim["anchor"] in anchors:
            # A second variant of the same claim: the first one keeps the plain address.
            claim["anchor"] += f"-{claim['variant']}"
        anchors.add(claim["anchor"])
        about = f"{row['paper']}/{setting['about']}" if setting else row["claim"]
        groups.setdefault(about, []).append(claim)
    return [_statement(name, group, known.get(name)) for name, group in groups.items()]


def _statement(name: str, group: list[dict], known: Mapping | None) -> dict:
    outcome = known["outcome"] if known else "cannot be told"
    # What is open only because scale quick is small is not what cannot be told.
    if outcome == "cannot be told" and any(claim["shown"] == SMALL for claim in group):
        outcome = SMALL
    ours = bool(known) and known["whose"] == "ours"
    for claim in group:
        claim |= {"about": name, "outcome": outcome, "ours": ours}
    return {
        "name": name,
        "anchor": f"statement-{name}",
        "paper": group[0]["paper"],
        "artifact": group[0]["artifact"],
        "text": group[0]["stated"],
        "place": group[0]["place"],
        "ours": ours,
        "younger": any(claim["younger"] for claim in group),
        "outcome": outcome,
        "claims": group,
    }


def _claim(row: dict, setting: Mapping, scale: str, wide: str) -> dict:
    small = (
        scale == "quick"
        and row["verdict"] == "unverifiable"
        and bool(row["reproduced"])
        and row["data"] != "stand-in"
        and setting.get("published_size", True)
        and bool(setting)
    )
    measured = Measured(
        _float(row["reproduced"]),
        _float(row["se"]),
        int(float(row["replicates"])) if row["replicates"] else None,
        low=_float(row["low"]) if row["low"] else None,
        high=_float(row["high"]) if row["high"] else None,
    )
    allowed = None
    if row["reproduced"] and "tolerance" in setting:
        allowed = region(setting["tolerance"], setting["published"], measured)
    found = row | {
        "anchor": f"claim-{row['claim']}",
        "short": row["claim"].removeprefix(f"{row['paper']}/"),
        "artifact": row["artifact"].removeprefix(f"{row['paper']}/"),
        "variant_words": VARIANTS.get(row["variant"], row["variant"]),
        "shown": SMALL if small else row["verdict"],
        "brief": {name: brief(row[name], digits) for name, digits in DIGITS.items()},
        "at_paper_scale": wide,
        "epsilon": setting.get("epsilon", "") or NO_EPSILON,
        "because": setting.get("because", ""),
        "headline": "",
        "stated": setting.get("statement", row["statement"]),
        "place": setting.get("place", ""),
        "test": setting.get("test", ""),
        "row": setting.get("row", ""),
        "column": setting.get("column", ""),
        "change": "",
        "younger": bool(YOUNGER.search(row["statement"])),
    }
    if "headline" in setting and row["reproduced"] and found["shown"] != "unverifiable":
        found["headline"] = headline(setting, row)
    if allowed is not None:
        found["change"] = _change(found["shown"], allowed, measured)
    return found


def _float(text: str) -> float:
    return float(text) if text else math.nan


def _change(word: str, allowed: Region, measured: Measured) -> str:
    """What would change the verdict, from the numbers."""
    if math.isnan(measured.value) or math.isnan(allowed.low):
        return ""
    if word == SMALL:
        return "A run at scale paper gives the verdict: the published setting is larger than what was measured here."
    margin = abs(allowed.margin(measured))
    far = "" if math.isnan(margin) else f", {margin:,.0f}" if margin >= 10 else f", {margin:.1f}"
    far += " half-widths of its interval from the nearest end" if far else ""
    value, least, most = (brief(str(x), 4) for x in (measured.value, allowed.low, allowed.high))
    if word == "reproduced":
        ends = [(least, allowed.low, "below"), (most, allowed.high, "above")]
        ends = [f"{side} {text}" for text, x, side in ends if math.isfinite(x)]
        if len(ends) == 2 and allowed.low == allowed.high:
            ends = [f"other than {least}"]
        return f"A value {' or '.join(ends)} would differ; {value} is inside{far}."
    if word == "differs":
        where = f"from {least} to {most}" if allowed.low < allowed.high else f"of {least}"
        where = f"of at most {most}" if math.isinf(allowed.low) else where
        where = f"of at least {least}" if math.isinf(allowed.high) else where
        return f"A value {where} would reproduce it; {value} is outside{far}."
    if word == "inconclusive":
        needed = allowed.replicates_to_decide(measured)
        if needed:
            return f"More runs: about {brief(str(needed))} would decide, if the value stays."
        return "Its interval holds an end of what is allowed; a shorter one would decide."
    return ""


def counts(statements: Iterable[Mapping]) -> dict[str, int]:
    """How many of the papers' own statements have each outcome; those that are ours are not counted."""
    outcomes = [statement["outcome"] for statement in statements if not statement["ours"]]
    return {word: outcomes.count(word) for word in OUTCOME_WORDS}
