"""Whether a figure or table of a paper holds: one line for the text's algorithm and the authors' program."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from privarms.files.numbers import joined
from privarms.ledger import outcomes
from privarms.report.words import verb, words

TEXT, PROGRAM = "as_printed", "as_released"
# The paper's runs show numbers and comparisons. Theorems and identities are about no run.
FROM_RUNS = ("number", "comparison")


def answer(stated: Iterable[Mapping], variant: str) -> dict[str, str]:
    """Return the answer for one variant, from the paper's statements about a figure or table.

    answer : yes, no, partly, depends on X, measured, undecided, unverifiable; "" without statements
    look : its CSS class; counts : how many statements or printed numbers have each outcome
    """
    theirs = [statement for statement in stated if not statement["ours"]]
    runs, theory = Counter(), Counter()
    for statement in theirs:
        counter = runs if statement["kind"] in FROM_RUNS else theory
        counter.update(_outcomes(statement, variant))
    own = [case for s in theirs if not runs or s["kind"] in FROM_RUNS for case in _that_depend(s, variant)]
    word, look = _answer(runs or theory, any(outcomes.state(case["verdict"]) == "good" for case in own))
    if word == "yes" and not runs and theory["not refuted"]:
        # Instances cannot prove a theorem.
        word = "not refuted"
    counts = "; also: ".join(filter(None, map(_in_words, (runs, theory) if runs else (theory,))))
    # "undecided: 1 undecided" says nothing more than "undecided".
    return {"answer": word, "look": look, "counts": "" if counts == f"1 {word}" else counts}


def _outcomes(statement: Mapping, variant: str) -> list[str]:
    if statement["group"] != outcomes.PRINTED:
        return [statement[variant]] if statement[variant] else []
    return [outcomes.of_cases(number)[0] for number in outcomes.numbers(_cases(statement, variant))]


def _that_depend(statement: Mapping, variant: str) -> list[Mapping]:
    """Return the cases of a statement, or of the numbers of a printed table, whose outcome depends on an assumption."""
    cases = _cases(statement, variant)
    some = outcomes.numbers(cases) if statement["group"] == outcomes.PRINTED else [cases]
    return [case for one in some if outcomes.state(outcomes.of_cases(one)[0]) == "depends" for case in one]


def _cases(statement: Mapping, variant: str) -> list[Mapping]:
    return [case for case in statement["cases"] if (case["variant"] == PROGRAM) is (variant == PROGRAM)]


def _answer(found: Counter, some_good: bool) -> tuple[str, str]:
    """Return the word and its CSS class; some_good: whether a case is good where the outcome depends on X."""
    states = {outcomes.state(one) for one in found}
    depends = [one for one in found if outcomes.state(one) == "depends"]
    if "bad" in states:
        return ("partly", "depends") if some_good or "good" in states else ("no", "bad")
    if depends:
        return words(depends[0]), "depends"
    if "good" in states:
        return ("yes, as far as decided" if "open" in states else "yes"), "good"
    for word, look in (("undecided", "open"), ("measured", "measured"), ("unverifiable", "unverifiable")):
        if word in found:
            return word, look
    return "", ""


def _in_words(found: Counter) -> str:
    order = ("good", "bad", "depends", "measured", "open")
    ordered = sorted(found.items(), key=lambda item: order.index(outcomes.state(item[0])))
    return ", ".join(f"{n} {words(verb(one, n))}" for one, n in ordered)


def why(stated: Sequence[Mapping]) -> str:
    """Return the assumption that decides and the most frequent reason of bad cases, or else of unverifiable ones."""
    theirs = [statement for statement in stated if not statement["ours"]]
    runs = [statement for statement in theirs if statement["kind"] in FROM_RUNS] or theirs
    decides = dict.fromkeys(words(name) for s in runs for name in s["decides"].split(", ") if name)
    parts = [f"It depends on {joined(list(decides))}."] if decides else []
    parts.append(_reason(runs, "bad") or ("" if decides else _reason(runs, "unverifiable")))
    return " ".join(filter(None, parts))


def _reason(stated: Iterable[Mapping], wanted: str) -> str:
    """Return the most frequent reason of the cases with this state or verdict; the first one of several."""
    cases = (case for statement in stated for case in statement["cases"])
    reasons = Counter(case["reason"] for case in cases if wanted in (case["verdict"], outcomes.state(case["verdict"])))
    reasons.pop("", None)
    return reasons.most_common(1)[0][0] if reasons else ""
