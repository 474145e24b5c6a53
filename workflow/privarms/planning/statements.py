"""A paper's statements.yaml: sentences and numbers that can be checked, each with its kind and its measure."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from privarms.errors import PrivarmsError, check_known
from privarms.files import settings

KINDS = ("number", "comparison", "universal", "exact", "words")
# The value without an effect, where a paper prints no factor.
NO_EFFECT = {"ratio": 1.0, "difference": 0.0, "exponent": 1.0}
SIDES = ("at_least", "at_most", "above", "below")
HEADLINE = ("measured", "low", "high", "published")
MEASURES = ("value", "smallest", "largest", "true")
# Numbers that papers print as words.
NUMBER_WORDS = {
    **{"half": 0.5, "twice": 2.0, "two": 2.0, "double": 2.0},
    **{"order of magnitude": 10.0, "orders of magnitude": 100.0},
}


def half_unit(text: str) -> float:
    """Return half a unit of the last printed digit: "0.110" -> 0.0005, "40" -> 0.5. Quote a number that ends with 0."""
    return 0.5 * 10.0 ** int(Decimal(text).as_tuple().exponent)


@dataclass(frozen=True)
class Statement:
    """One statement; docs/verdicts.md explains the fields.

    at: file and name, for messages; measure: one of MEASURES and a column; published: what the paper prints
    where: values of the table's columns, and `tag`; by: columns that separate cases; assumes: columns that the text
    leaves open; because: why a bad verdict is what it is
    unverifiable: what is missing; with a measure, for the entries of a printed table that have no row
    """

    paper: str
    name: str
    kind: str
    quote: str
    place: str
    artifact: str
    at: str
    test: str = ""
    ours: bool = False
    published: Mapping = field(default_factory=dict)
    measure: tuple[str, str] = ("value", "")
    table: str = ""
    where: Mapping[str, Sequence] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    post_hoc: str = ""
    because: str = ""
    headline: str = ""
    unverifiable: str = ""

    @property
    def about(self) -> dict:
        """Return what the outcome needs to know, in addition to the cases."""
        return {"ours": self.ours, "headline": self.headline}


def load(
    file: Path,
    paper: str,
    *,
    artifacts: Collection[str],
    tables: Collection[str],
    tags: Collection[str],
    printed: Collection[str],
    datasets: Collection[str] | None = None,
) -> list[Statement]:
    """Return the statements of a paper's file.

    artifacts, tables, tags, printed: the paper's artifacts, inference tables, tags of grids and printed tables
    datasets: those of sources.yaml
    Raises PrivarmsError for every fault, with file and key.
    """
    content = settings.read(file)
    settings.validate(content, "statements", file)
    result: dict[str, Statement] = {}
    quotes: dict[str, str] = {}
    for entry in content["statements"]:
        name = entry["statement"]
        at = f"{file}: {name}"
        if name in result:
            raise PrivarmsError(f"{at}: duplicate statement; give each statement its own name")
        if not entry.get("ours") and (other := quotes.setdefault(_plain(entry["quote"]), name)) != name:
            raise PrivarmsError(f"{at}.quote: also quoted by {other}; one quotation is one statement")
        check_known(f"{at}.artifact", "artifact", entry["artifact"], artifacts)
        measure = dict(entry.get("measure", {}))
        table, where = measure.pop("table", ""), measure.pop("where", {})
        if table:
            check_known(f"{at}.measure.table", "inference table", table, tables)
        for tag in _listed(where.get("tag", [])):
            check_known(f"{at}.measure.where.tag", "tag of a grid", tag, tags)
        for dataset in _listed(entry.get("dataset", [])) if datasets is not None else ():
            check_known(f"{at}.dataset", "dataset", dataset, datasets)
        published = entry.get("published", {})
        if "table" in published:
            check_known(f"{at}.published.table", "published table", published["table"], printed)
        _check_boundary(at, entry)
        _check_headline(f"{at}.headline", entry.get("headline", ""))
        result[name] = Statement(
            paper=paper,
            name=name,
            at=at,
            published=published,
            measure=next(iter(measure.items()), ("value", "")),
            table=table,
            where={k: _listed(v) for k, v in where.items()},
            datasets=tuple(_listed(entry.get("dataset", []))),
            **{k: tuple(_listed(entry.get(k, []))) for k in ("by", "assumes")},
            **{k: entry[k] for k in ("kind", "quote", "artifact")},
            **{k: entry.get(k, "") for k in ("place", "test", "post_hoc", "because", "headline", "unverifiable")},
            ours=bool(entry.get("ours")),
        )
    return list(result.values())


def _listed(value) -> list:
    return value if isinstance(value, list) else [value]


def _plain(quote: str) -> str:
    return re.sub(r"[\W_]+", " ", quote.lower()).strip()


def _printed_numbers(quote: str) -> list[float]:
    """Return the numbers in a quotation: digits, fractions, percentages and words, but not the numbers of figures."""
    text = re.sub(r"\b(figures?|tables?|sections?|experiments?|theorems?)\s+[\d.]+", "", quote.lower())
    number = r"\d[\d,]*(?:\.\d+)?|\.\d+"
    found = []
    for one, over, percent in re.findall(rf"({number})(?:\s*/\s*({number}))?(\s*%|\s*percent)?", text):
        value = float(one.replace(",", ""))
        found += [value, value / float(over.replace(",", ""))] if over and float(over.replace(",", "")) else [value]
        found += [value / 100] if percent else []
    return found + [value for word, value in NUMBER_WORDS.items() if re.search(rf"\b{word}\b", text)]


def _check_boundary(at: str, entry: Mapping) -> None:
    """Raise PrivarmsError for a comparison with a boundary that its quotation does not print."""
    published = entry.get("published", {})
    sides = [word for word in published if word in SIDES]
    if entry["kind"] != "comparison" or entry.get("ours") or not sides:
        return
    boundary = float(published[sides[0]])
    numbers = _printed_numbers(entry["quote"])
    if not any(abs(boundary - one) <= 1e-9 * abs(boundary) for one in numbers):
        effects = ", ".join(f"{{{effect}: {sides[0]}}}" for effect in NO_EFFECT)
        raise PrivarmsError(
            f"{at}.published.{sides[0]}: the quotation does not print {boundary:g}. Write the printed factor or, if "
            f"there is none, one of {effects}"
        )


class _Shown(float):
    """A number that is "unbounded" in a headline if it is infinite."""

    def __format__(self, how: str) -> str:
        return "unbounded" if math.isinf(self) else super().__format__(how)


def in_headline(template: str, case: Mapping[str, str]) -> str:
    """Return a headline with the numbers of a case; raise KeyError or ValueError for a field that does not fit."""
    numbers = {}
    for name in HEADLINE:
        try:
            numbers[name] = _Shown(case[name])
        except ValueError:
            numbers[name] = case[name]
    return template.format_map(numbers)


def _check_headline(where: str, template: str) -> None:
    try:
        in_headline(template, dict.fromkeys(HEADLINE, "0.5"))
    except Exception as error:
        expected = f"expected {', '.join(f'{{{name}}}' for name in HEADLINE)}, as {{measured:.2g}} or plain"
        raise PrivarmsError(f"{where}: {error} (found {template!r}); {expected}") from error
