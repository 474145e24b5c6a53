"""The ledger: every claim of the papers, the value that we measured, and the verdict."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from privarms.claims.verdict import CONFIDENCE, VERDICTS, Measured, Region, describe, region
from privarms.errors import NoCellsError, PrivarmsError, StudyError
from privarms.files.whole import read_csv, write_text

COLUMNS = (
    "claim",
    "paper",
    "artifact",
    "variant",
    "statement",
    "published",
    "reproduced",
    "se",
    "replicates",
    "tolerance",
    "verdict",
    "data",
    "note",
    "low",
    "high",
    "margin",
)
NUMBERS = ("reproduced", "se", "replicates", "low", "high", "margin")
DEPENDS = "depends on an assumption"
HOLDS = ("holds as printed", "only as released", "holds as released")
OUTCOMES = (*HOLDS, DEPENDS, "does not hold", "cannot be told")
STATEMENTS = ("statement", "paper", "outcome", "claims", *VERDICTS, "whose")
# A place with this ending has no quotation, because we do not have the paper's text.
NOT_QUOTED = "in our words"


def measure(function: Callable[..., Measured], results, claim: Mapping) -> Measured | str:
    """Return the measured number of a claim, or a sentence if this run has none of its cells; results: a `Results`.

    Raises PrivarmsError with the claim's name for a measure that does not fit the tables.
    """
    try:
        return function(results.only(claim.get("over", {}), claim.get("named", ())), **claim.get("arguments", {}))
    except NoCellsError as error:
        return f"{str(error)[:1].upper()}{str(error)[1:]}."
    except StudyError:
        raise
    except PrivarmsError as error:
        raise PrivarmsError(f"claims.yaml: {claim['claim']}: {error}") from error


def stated(claim: Mapping) -> str:
    """Return a claim's statement and test as one text; a place that ends with NOT_QUOTED omits the quotation marks."""
    statement, place = claim["statement"], claim.get("place", "")
    quoted = statement if place.endswith(NOT_QUOTED) else f'"{statement}"'
    text = f"{quoted} ({place})." if place else f"Ours: {statement}"
    return f"{text} Test: {claim['test']}" if claim.get("test") else text


def judge(claim: Mapping, measured: Measured | str, *, paper: str, scale: str, data: str) -> dict:
    """Return one row of the ledger. `measured` is a sentence if nothing could be measured."""
    row = {
        "claim": f"{paper}/{claim['claim']}",
        "paper": paper,
        "artifact": f"{paper}/{claim['artifact']}",
        "variant": claim.get("variant", ""),
        "statement": stated(claim),
        "published": claim["published"],
        **dict.fromkeys(NUMBERS),
        "tolerance": describe(claim["tolerance"]) if "tolerance" in claim else "",
        "verdict": "unverifiable",
        "data": "",
        "note": measured if isinstance(measured, str) else measured.note,
    }
    if isinstance(measured, str):
        return row
    allowed = region(claim["tolerance"], claim["published"], measured)
    row["tolerance"] = describe(claim["tolerance"], allowed)
    row |= {"reproduced": measured.value, "se": measured.se, "replicates": measured.replicates, "data": data}
    row |= dict(zip(("low", "high"), measured.interval, strict=True)) | {"margin": allowed.margin(measured)}
    if data == "stand-in":
        row["note"] = _sentences("Measured on synthetic stand-in data, so no verdict is possible.", measured.note)
    elif scale == "quick" and claim.get("published_size", True):
        row["note"] = _sentences("Scale quick is smaller than the published setting; run scale paper.", measured.note)
    else:
        row["verdict"], reason = _decided(claim, allowed, measured)
        row["note"] = _sentences(reason, measured.note)
    return row


def _decided(claim: Mapping, allowed: Region, measured: Measured) -> tuple[str, str]:
    """Return the verdict and its reason, a sentence or an empty text."""
    verdict = allowed.decide(measured)
    if verdict == "unverifiable":
        return verdict, "No number could be measured."
    if verdict == "differs":
        return verdict, claim.get("because", "")
    if verdict == "inconclusive" and not any(map(math.isfinite, measured.interval)):
        return verdict, f"The runs do not bound the value: the {CONFIDENCE:.1%} interval is infinite."
    if verdict == "inconclusive" and math.isnan(allowed.low):
        return verdict, "There is no accepted range: our runs do not show how much the paper's runs vary."
    if verdict == "inconclusive":
        return verdict, f"The {CONFIDENCE:.1%} interval contains a limit of the accepted range."
    if claim.get("inferred"):
        return "unverifiable", "It fits, but our assumption was inferred from this number."
    return verdict, ""


def _sentences(*parts: str) -> str:
    return " ".join(p for p in parts if p)


def about(claims: Mapping[str, Sequence[Mapping]]) -> dict[tuple[str, str], dict]:
    """Return what `statements` needs of each claim, by the claim's name and variant in the ledger.

    `aside` marks a claim that has a measure but is not measured, because it cannot judge the paper: for example, one
    about a constant of ours.
    claims: paper -> claims as `studies.claims.load` returns them
    """
    return {
        (f"{paper}/{claim['claim']}", claim.get("variant", "")): {
            "about": f"{paper}/{claim['about']}",
            **{key: claim.get(key, "") for key in ("ours", "assumes")},
            "aside": {"measure", "unverifiable"} <= claim.keys(),
        }
        for paper, some in claims.items()
        for claim in some
    }


def statements(claims: Mapping[tuple[str, str], Mapping], rows: Sequence[Mapping]) -> list[dict]:
    """Return one row of STATEMENTS per statement; claims: as `about` returns them; rows: of the ledger."""
    ours = {claim["about"] for claim in claims.values() if claim["ours"]}
    judged: dict[str, list[tuple[Mapping, Mapping]]] = {}
    for row in rows:
        claim = claims[row["claim"], row["variant"]]
        judged.setdefault(claim["about"], []).append((row, claim))
    summaries = []
    for name, group in judged.items():
        count = Counter(row["verdict"] for row, _ in group)
        under: dict[str, list[Mapping]] = {}
        for row, claim in [(row, claim) for row, claim in group if not claim["aside"]] or group:
            under.setdefault(claim["assumes"], []).append(row)
        joint = together({outcome(some) for some in under.values()})
        summary = {"statement": name, "paper": group[0][0]["paper"], "outcome": joint, "claims": len(group)}
        summary |= {verdict: count[verdict] for verdict in VERDICTS}
        summaries.append(summary | {"whose": "ours" if name in ours else "paper"})
    return summaries


def together(outcomes: set[str]) -> str:
    """Return one of OUTCOMES, from the outcomes of a statement under each of our assumptions."""
    if len(outcomes) == 1:
        return next(iter(outcomes))
    decided = {"holds" if one in HOLDS else one for one in outcomes}
    return DEPENDS if decided == {"holds", "does not hold"} else "cannot be told"


def outcome(group: Sequence[Mapping]) -> str:
    """Return one of OUTCOMES, from the rows of the ledger about one statement.

    A statement holds in a variant if every claim about it is reproduced, and fails if one differs. A claim without a
    variant counts as printed. The outcome is "only as released" if the statement was also tested as printed and fails.
    """
    as_printed, as_released = (
        {row["verdict"] for row in group if (row["variant"] == "as_released") is released} for released in (False, True)
    )
    if as_printed == {"reproduced"}:
        return "holds as printed"
    printed_fails, released_fails = ("differs" in verdicts or not verdicts for verdicts in (as_printed, as_released))
    if printed_fails and as_released == {"reproduced"}:
        return "only as released" if as_printed else "holds as released"
    return "does not hold" if printed_fails and released_fails else "cannot be told"


def write(rows: Sequence[Mapping], path: Path | str, columns: Sequence[str] = COLUMNS) -> None:
    """Write rows of the ledger (or of STATEMENTS) as CSV, in the order given, the ledger's numbers to ten digits."""
    frame = pd.DataFrame(rows, columns=list(columns))
    for column in set(columns) & set(NUMBERS):
        frame[column] = ["" if v is None or v == "" or pd.isna(v) else f"{float(v):.10g}" for v in frame[column]]
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def read(path: Path | str, columns: Sequence[str] = COLUMNS) -> list[dict[str, str]]:
    """Return the rows of a file that `write` wrote, each cell as its text. Raise PrivarmsError for other columns."""
    header, lines = read_csv(Path(path))
    if tuple(header) != tuple(columns):
        raise PrivarmsError(f"{path}: expected the columns {', '.join(columns)}, in this order; build it again")
    return [dict(zip(columns, cells, strict=True)) for cells in lines]
