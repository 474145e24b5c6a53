"""A paper's claims.yaml: single claims, and entries for many claims, over a grid or the rows of a published table."""

import itertools
import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from privarms.errors import PrivarmsError, check_known
from privarms.files import settings
from privarms.files.whole import read_csv
from privarms.studies import configuration, measure_keys, paths
from privarms.studies.configuration import listed

# Fields of texts that are expanded, also in claim names.
# {name}; {name:,} is a number with thousands separators, {name:g} a number without trailing zeros.
FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?::([,g]))?\}")
FOREIGN = re.compile(r"[^a-z0-9_]+")
# Keys that only some of an entry's claims may have.
EMPTY = ("variant", "because", "headline", "inferred", "unverifiable")
# Fields of the ledger's row that a headline may show, and its largest number of words.
HEADLINE_FIELDS, HEADLINE_WORDS = ("reproduced", "low", "high", "published"), 25


def published(folder: Path | str) -> dict:
    """Return a paper's published `numbers`, name -> value, and `tables`, name -> rows {column: number or text}."""
    result: dict = {"numbers": {}, "tables": {}}
    for file in map(Path, paths.published(str(folder))):
        if file.suffix == ".yaml":
            result["numbers"] = settings.read(file)
            settings.validate(result["numbers"], "published", file)
        else:
            result["tables"][file.stem] = _rows(file)
    return result


def _rows(file: Path) -> list[dict]:
    names, rows = read_csv(file)
    if not rows or len(set(names)) < len(names):
        raise PrivarmsError(
            f"{file}: expected a header with different names and at least one line; found {', '.join(names)}"
        )
    return [dict(zip(names, map(_value, row), strict=True)) for row in rows]


def _value(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def load(folder: Path, scale: str, artifacts: Collection[str], tags: Collection[str] | None = None) -> list[dict]:
    """Return the claims of a paper's folder, expanded.

    artifacts: the paper's, which the claims must name; tags: of its grids, or None to accept any tag
    Each claim has the keys of the schema except `each`. `about` is the name of a statement, by default the claim's own
    name; the statement's `statement`, `place` and `ours` are added. `over` is a mapping of columns to lists of values,
    or a list of such mappings. `published` is a number or text, and `named` the columns that its measure names. Raises
    PrivarmsError.
    """
    file, numbers = folder / "claims.yaml", published(folder)
    content = configuration.at_scale(file, scale, "claims")
    cells, statements = content.get("cells", {}), content.get("statements", {})
    claims = []
    for i, entry in enumerate(content["claims"]):
        where = f"{file}: claims[{i}]"
        for point in _joined(where, _points(where, entry.get("each"), numbers["tables"])):
            claim = {k: _filled(where, k, v, point) for k, v in entry.items() if k != "each"}
            claim["claim"] = FOREIGN.sub("_", str(claim["claim"]))
            claim["over"] = _over(where, claim.get("over"), cells, tags)
            claim["named"] = _named(claim)
            claim["published"] = _published(where, claim["published"], numbers["numbers"])
            claims.append(_stated(where, {k: v for k, v in claim.items() if v != "" or k not in EMPTY}, statements))
    _check(file, claims, artifacts)
    if unused := [name for name in statements if all(claim["about"] != name for claim in claims)]:
        raise PrivarmsError(f"{file}: statements.{unused[0]}: no claim is about it; add one or remove the statement")
    return claims


def _stated(where: str, claim: dict, statements: Mapping) -> dict:
    """Return the claim with the name, the text and the place of its statement; our own statements have no place."""
    texts = {"place": "", "ours": False, "test": ""}
    if "about" not in claim:
        return texts | claim | {"about": claim["claim"]}
    check_known(f"{where}.about", "statement", claim["about"], statements)
    return texts | claim | statements[claim["about"]]


def _points(where: str, each, tables: Mapping) -> list[dict]:
    """Return the points over which an entry expands: [{}] for a plain claim, products of axes, or rows of a table."""
    if each is None:
        return [{}]
    if isinstance(each, list):
        return [point for one in each for point in _points(where, one, tables)]
    axes = dict(each)
    rows = [{}]
    if "table" in axes:
        table = axes.pop("table")
        check_known(f"{where}.each.table", "published table", table, tables)
        only = axes.pop("only", {})
        for column in only:
            check_known(f"{where}.each.only", f"column of {table}", column, tables[table][0])
        rows = [row for row in tables[table] if all(row[k] in listed(v) for k, v in only.items())]
        if not rows:
            raise PrivarmsError(f"{where}.each.only: no row of {table} has all of these values; correct `only`")
    elif "only" in axes:
        raise PrivarmsError(f"{where}.each.only: selects rows of a table; expected also the key `table`")
    lists = [listed(v) for v in axes.values()]
    return [row | dict(zip(axes, values, strict=True)) for row in rows for values in itertools.product(*lists)]


def _joined(where: str, points: list[dict]) -> list[dict]:
    """Return the points with the mappings among their values merged into them, if all keys agree.

    A mapping adds keys to a row of a table, or to a value of an axis. PrivarmsError for one that never agrees.
    """
    result, merged = [], set()
    for point in points:
        joined = {k: v for k, v in point.items() if not isinstance(v, Mapping)}
        mappings = [v for v in point.values() if isinstance(v, Mapping)]
        for mapping in mappings:
            if any(joined.get(k, v) != v for k, v in mapping.items()):
                break
            joined |= mapping
        else:
            result.append(joined)
            merged |= set(map(id, mappings))
    mappings = (v for point in points for v in point.values() if isinstance(v, Mapping))
    for mapping in (v for v in mappings if v and id(v) not in merged):
        keys = ", ".join(f"{k} {v}" for k, v in mapping.items())
        raise PrivarmsError(
            f"{where}.each: no point has all of {keys}; correct these values, or those of the tables and other axes"
        )
    return result


def _filled(where: str, key: str, value, point: Mapping):
    """Return a value with {names} replaced by the point's values; a text of only one field becomes its value."""
    if isinstance(value, Mapping):
        return {k: _filled(where, f"{key}.{k}", v, point) for k, v in value.items()}
    if isinstance(value, list):
        return [_filled(where, key, v, point) for v in value]
    if not isinstance(value, str) or not point:
        return value
    if (whole := FIELD.fullmatch(value)) and whole[1] in point and not whole[2]:
        return point[whole[1]]

    def fill(field: re.Match) -> str:
        if field[1] not in point:
            if key == "headline":
                return field[0]
            known = ", ".join(map(str, point))
            raise PrivarmsError(f"{where}.{key}: unknown name {field[1]!r}; expected one of {known}")
        return format(point[field[1]], field[2] or "")

    return FIELD.sub(fill, value)


def _over(where: str, over, cells: Mapping, tags: Collection[str] | None) -> dict[str, list] | list[dict[str, list]]:
    """Return a set of cells as a mapping of columns to lists of values; a list of such mappings for several sets.

    A text is the name of a set under `cells`, or a tag.
    """
    sets = []
    for one in listed(over or {}):
        if isinstance(one, str):
            one = cells.get(one, {"tag": one})
        sets += [{k: listed(v) for k, v in columns.items()} for columns in listed(one)]
    for tag in (tag for columns in sets for tag in columns.get("tag", ())):
        check_known(
            f"{where}.over", "set of cells or tag of a grid", tag, [*cells, *(tags if tags is not None else [tag])]
        )
    return sets[0] if len(sets) == 1 else sets


def _named(claim: Mapping) -> list[str]:
    """Return the columns that a claim's measure names: those that select rows, and its arguments."""
    measure = claim["measure"] if isinstance(claim.get("measure"), Mapping) else {}
    chosen = {**measure.get("where", {}), **measure.get("to", {}).get("where", {})}
    return sorted({*chosen, *claim.get("arguments", {})})


def _published(where: str, value, numbers: Mapping):
    if not isinstance(value, Mapping):
        return value
    check_known(f"{where}.published", "published number", value["number"], numbers)
    return numbers[value["number"]]


def _check(file: Path, claims: list[dict], artifacts: Mapping) -> None:
    seen = set()
    for claim in claims:
        where, named = f"{file}: {claim['claim']}", (claim["claim"], claim.get("variant"))
        if named in seen:
            raise PrivarmsError(f"{where}: duplicate claim; give each claim its own name")
        seen.add(named)
        if not {"measure", "unverifiable"} & set(claim):
            raise PrivarmsError(f"{where}: expected `measure` and `tolerance`, or `unverifiable` with the reason")
        if "tolerance" in claim:
            _check_tolerance(where, claim["tolerance"], claim["published"])
        if isinstance(claim.get("measure"), Mapping):
            measure_keys.check(where, claim["measure"], claim.get("tolerance", {}))
        check_known(f"{where}.artifact", "artifact", claim["artifact"], artifacts)
        if "headline" in claim:
            _check_headline(f"{where}.headline", claim)


def _check_tolerance(where: str, tolerance: Mapping, published) -> None:
    low, high = tolerance.get("at_least", -math.inf), tolerance.get("at_most", math.inf)
    if low > high:
        raise PrivarmsError(f"{where}.tolerance: at_least {low:g} is above at_most {high:g}; no value satisfies both")
    if not {"at_least", "at_most", "equals"} & set(tolerance) and isinstance(published, str):
        raise PrivarmsError(
            f"{where}.tolerance: expected at_least, at_most or equals: the published value is no number, {published!r}"
        )


def headline(claim: Mapping, row: Mapping[str, str]) -> str:
    """Return the claim's headline with the numbers of its row of the ledger.

    Raises KeyError for an unknown field, and ValueError for a format that does not fit.
    """
    return claim["headline"].format_map({field: _value(row[field]) for field in HEADLINE_FIELDS})


def _check_headline(where: str, claim: Mapping) -> None:
    expected = f"Expected {', '.join(f'{{{field}}}' for field in HEADLINE_FIELDS)}, as {{reproduced:.2g}} or plain."
    try:
        headline(claim, dict.fromkeys(HEADLINE_FIELDS, "0.5") | {"published": str(claim["published"])})
    except Exception as error:
        raise PrivarmsError(f"{where}: {error} (found {claim['headline']!r}). {expected}") from error
    if (words := len(claim["headline"].split())) > HEADLINE_WORDS:
        raise PrivarmsError(f"{where}: found {words} words. Expected at most {HEADLINE_WORDS}.")
