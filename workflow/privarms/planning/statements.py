"""A paper's statements.yaml: sentences and numbers that can be checked, each with its kind and its measure."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from privarms.errors import PrivarmsError, check_known
from privarms.files import settings
from privarms.files.model import (
    Flag,
    Listed,
    Model,
    Number,
    Plain,
    Printed,
    Text,
    Whole,
    checked,
    expected,
    fault,
    key_fault,
    matching,
)

KINDS = ("number", "comparison", "universal", "exact", "words")
# The value without an effect, where a paper prints no factor.
NO_EFFECT = {"ratio": 1.0, "difference": 0.0, "exponent": 1.0}
SIDES = ("at_least", "at_most", "above", "below")
HEADLINE = ("measured", "low", "high", "published")
MEASURES = ("value", "smallest", "largest", "true")
# The extreme that decides whether all rows lie on a side.
DECIDES = {"at_least": "smallest", "above": "smallest", "at_most": "largest", "below": "largest"}
# Keys of an entry that are fields of its statement.
AS_THEY_ARE = {"kind", "quote", "place", "artifact", "test", "ours", "post_hoc", "because", "headline", "unverifiable"}
# Numbers that papers print as words.
NUMBER_WORDS = {
    **{"half": 0.5, "twice": 2.0, "two": 2.0, "double": 2.0},
    **{"order of magnitude": 10.0, "orders of magnitude": 100.0},
}


Identifier = Annotated[str, *matching("^[a-z][a-zA-Z0-9_]*$", "a name of letters, digits and _")]
Column = Annotated[str, *matching("^[a-zA-Z][a-zA-Z0-9_]*$", "a column: letters, digits and _")]
Side = Literal["at_least", "at_most", "above", "below"]


class Published(Model):
    """What the paper prints: a number, a column of a table, or a side of a boundary."""

    value: Printed | None = None
    table: Identifier | None = None
    runs: Annotated[Whole, Field(ge=1)] | None = None
    denominator: Number | None = None
    at_least: Number | None = None
    at_most: Number | None = None
    above: Number | None = None
    below: Number | None = None
    ratio: Side | None = None
    difference: Side | None = None
    exponent: Side | None = None

    @property
    def is_side(self) -> bool:
        """Return whether it is a side of a boundary."""
        return self.value is None

    @property
    def side(self) -> str:
        """Return the side, one of SIDES, of a printed boundary or of no effect."""
        (key,) = (key for key in (*SIDES, *NO_EFFECT) if key in self.model_fields_set)
        return key if key in SIDES else getattr(self, key)

    @model_validator(mode="after")
    def _check_shape(self) -> Self:
        sides = [key for key in (*SIDES, *NO_EFFECT) if key in self.model_fields_set]
        if len(sides) + (self.value is not None) != 1 or (sides and len(self.model_fields_set) > 1):
            found = ", ".join(key for key in type(self).model_fields if key in self.model_fields_set) or "none"
            sides = ", ".join((*SIDES, *NO_EFFECT))
            raise fault(f"expected `value` (with `table`, `runs` or `denominator`) or one of {sides}; found {found}")
        return self


def _is_true(value: bool) -> bool:
    if not value:
        raise expected("true, or no such key")
    return value


class Measure(Model):
    """The value of a case: a column of an inference table in some of its rows."""

    value: Column | None = None
    smallest: Column | None = None
    largest: Column | None = None
    true: Column | None = None
    table: Identifier
    where: Annotated[dict[str, Listed[Plain]], Field(min_length=1)] | None = None
    some: Annotated[Flag, AfterValidator(_is_true), WithJsonSchema({"const": True})] = False

    @property
    def column(self) -> tuple[str, str]:
        """Return one of MEASURES and its column."""
        return next((key, getattr(self, key)) for key in MEASURES if key in self.model_fields_set)

    @model_validator(mode="after")
    def _check_column(self) -> Self:
        if len(found := [key for key in MEASURES if key in self.model_fields_set]) != 1:
            raise fault(f"expected one of {', '.join(MEASURES)}; found {', '.join(found) or 'none'}")
        return self

    def check_side(self, side: str) -> None:
        """Raise an error if the extreme does not decide about this side, or about `some` rows."""
        key, decides = self.column[0], DECIDES[side]
        if self.some:
            decides = next(other for other in DECIDES.values() if other != decides)
        if key in DECIDES.values() and key != decides:
            about, otherwise = ("some row", "remove") if self.some else ("all rows", "add")
            raise key_fault(
                "measure",
                f"expected `{decides}`, which decides about {about} with `{side}`; found `{key}`. {otherwise.title()} "
                f"`some: true` for a statement about {'all rows' if self.some else 'some row'}",
            )


class Entry(Model):
    """An entry of statements.yaml."""

    statement: Identifier
    kind: Literal["number", "comparison", "universal", "exact", "words"]
    quote: Text
    place: Text = ""
    ours: Annotated[Flag, AfterValidator(_is_true), WithJsonSchema({"const": True})] = False
    artifact: Identifier
    published: Published | None = None
    measure: Measure | None = None
    by: Listed[Column] = Field(default_factory=list)
    assumes: Listed[Column] = Field(default_factory=list)
    dataset: Listed[Identifier] = Field(default_factory=list)
    test: Text = ""
    because: Text = ""
    headline: Text = ""
    post_hoc: Text = ""
    unverifiable: Text = ""

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        given = self.model_fields_set
        if len({"place", "ours"} & given) != 1:
            raise fault(
                "expected one of the keys 'place' and 'ours'; found " + ("both" if "place" in given else "none")
            )
        if not {"measure", "test"} <= given and not self.unverifiable:
            raise fault("expected the keys 'measure' and 'test', or 'unverifiable'; add them")
        if self.kind in ("number", "comparison") and self.published is None and not self.unverifiable:
            raise fault(f"the key 'published' is missing for the kind {self.kind}; add it, or 'unverifiable'")
        if self.measure is not None and self.measure.some:
            extreme = self.measure.column[0] in DECIDES.values()
            if not (extreme and self.kind == "comparison" and self.published and self.published.is_side):
                raise key_fault(
                    "measure",
                    "expected no key `some`, which belongs to `smallest` or `largest` of a comparison; remove it",
                )
        if self.published is not None:
            found = "a side of a boundary" if self.published.is_side else "a value"
            if self.kind == "words":
                raise key_fault("published", "expected no such key for the kind words; remove it")
            if (self.kind, self.published.is_side) in (("number", True), ("comparison", False)):
                wanted = "`value`" if self.kind == "number" else f"one of {', '.join((*SIDES, *NO_EFFECT))}"
                raise key_fault("published", f"expected {wanted} for the kind {self.kind}; found {found}")
            if self.published.is_side and self.measure is not None:
                self.measure.check_side(self.published.side)
        return self


class StatementsFile(Model):
    """The content of statements.yaml."""

    statements: list[Entry]


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
    result: dict[str, Statement] = {}
    quotes: dict[str, str] = {}
    for entry in checked(StatementsFile, settings.read(file), file).statements:
        name, measure = entry.statement, entry.measure
        at = f"{file}: {name}"
        if name in result:
            raise PrivarmsError(f"{at}: duplicate statement; give each statement its own name")
        if not entry.ours and (other := quotes.setdefault(_plain(entry.quote), name)) != name:
            raise PrivarmsError(f"{at}.quote: also quoted by {other}; one quotation is one statement")
        check_known(f"{at}.artifact", "artifact", entry.artifact, artifacts)
        table, where = (measure.table, measure.where or {}) if measure else ("", {})
        if table:
            check_known(f"{at}.measure.table", "inference table", table, tables)
        for tag in where.get("tag", []):
            check_known(f"{at}.measure.where.tag", "tag of a grid", tag, tags)
        for dataset in entry.dataset:
            if datasets is not None:
                check_known(f"{at}.dataset", "dataset", dataset, datasets)
        published = entry.published.model_dump(exclude_unset=True) if entry.published else {}
        if "table" in published:
            check_known(f"{at}.published.table", "published table", published["table"], printed)
        _check_boundary(at, entry, published)
        _check_headline(f"{at}.headline", entry.headline)
        result[name] = Statement(
            paper=paper,
            name=name,
            at=at,
            published=published,
            measure=measure.column if measure else ("value", ""),
            table=table,
            where=where,
            datasets=tuple(entry.dataset),
            by=tuple(entry.by),
            assumes=tuple(entry.assumes),
            **entry.model_dump(include=AS_THEY_ARE),
        )
    return list(result.values())


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


def _check_boundary(at: str, entry: Entry, published: Mapping) -> None:
    """Raise PrivarmsError for a comparison with a boundary that its quotation does not print."""
    sides = [word for word in published if word in SIDES]
    if entry.kind != "comparison" or entry.ours or not sides:
        return
    boundary = float(published[sides[0]])
    numbers = _printed_numbers(entry.quote)
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
