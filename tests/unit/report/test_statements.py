"""What a claim shows: its number, its case, and what would change its verdict."""

import pytest

from privarms.claims.verdict import Measured, Region
from privarms.report import statements
from privarms.report.statements import brief


@pytest.mark.parametrize(
    ("text", "shown"),
    [("50000000.0", "50\u202f000\u202f000"), ("-0.30000000000000004", "−0.3"), ("2019", "2019"), (">= 5", ">= 5"),
     ("", ""), ("nan", ""), ("1e-12", "1e-12"), ("-12345", "−12\u202f345"), ("inf", "∞"), ("-inf", "−∞"),
     ("1476490.3", "1\u202f476\u202f490"), ("1e+20", "1e+20")],
)  # fmt: skip
def test_brief(text, shown):
    assert brief(text) == shown


@pytest.mark.parametrize(
    ("texts", "shared", "cases"),
    [
        (["Alone (in a case)."], "Alone (in a case).", [""]),
        (["The same (all).", "The same (all)."], "The same (all).", ["", ""]),
        (["It grows (K = 5).", "It grows (K = 10)."], "It grows.", ["K = 5", "K = 10"]),
        (["It grows (f (x)).", "It grows (f (y))."], "It grows (f.", ["x)", "y)"]),
        (["One.", "Two."], "One.", ["", "Two."]),
    ],
)
def test_what_claims_share_stands_once(texts, shared, cases):
    assert statements._common(texts) == (shared, cases)


@pytest.mark.parametrize(
    ("word", "region", "measured", "said"),
    [
        (
            "reproduced",
            Region(0, 1),
            Measured(0.5, 0.1, 100),
            "A value below 0 or above 1 would differ; 0.5 is inside, 1.5",
        ),
        ("reproduced", Region(5, float("inf")), Measured(9.0, 0.1, 100), "A value below 5 would differ; 9 is inside"),
        ("reproduced", Region(5, 5), Measured(5.0, 0.0), "A value other than 5 would differ; 5 is inside."),
        ("differs", Region(0, 1), Measured(2.0, 0.0), "A value from 0 to 1 would reproduce it; 2 is outside."),
        ("differs", Region(-float("inf"), 1), Measured(2.0, 0.0), "A value of at most 1 would"),
        ("differs", Region(3, float("inf")), Measured(2.0, 0.0), "A value of at least 3 would"),
        ("inconclusive", Region(0, 1), Measured(0.9, 0.1, 100), "More runs: about 1200 would decide"),
        (statements.SMALL, Region(0, 1), Measured(0.9, 0.1, 100), "A run at scale paper gives the verdict"),
        ("unverifiable", Region(0, 1), Measured(0.9, 0.1, 100), ""),
    ],
)
def test_what_would_change_a_verdict(word, region, measured, said):
    found = statements._change(word, region, measured)
    assert found.startswith(said)
    assert bool(found) == bool(said)


@pytest.mark.parametrize(
    ("text", "younger"),
    [
        ("The bias is small (added after its value was known).", True),
        ("Post hoc: it fits.", True),
        ("Ours, post hoc: it fits.", True),
        ("Not more (added when the values of Figure 7(a) were known).", True),
        ("After T rounds the arm is known to be gone.", False),
        ("The bound holds after the first epoch.", False),
    ],
)
def test_a_tolerance_that_is_younger_than_its_value_is_told(text, younger):
    assert bool(statements.YOUNGER.search(text)) == younger


@pytest.mark.parametrize(
    ("note", "span"),
    [
        ("Noise. From 1.00 to 7.46 over 40 pairs of cells.", "1.00 to 7.46 over 40 pairs of cells"),
        ("From 1.00 to 7.46.", ""),
        ("", ""),
    ],
)
def test_how_far_the_numbers_behind_a_mean_lie_apart(note, span):
    assert next(iter(statements.SPAN.findall(note)), "") == span


def test_a_case_does_not_say_its_variant_again():
    row = {"variant_words": "as printed", "shown": "reproduced", "artifact": "a", "paper": "p", "younger": False}
    texts = ("It keeps epsilon (as printed by (12)).", "It keeps epsilon (released).")
    group = [row | {"statement": text} for text in texts]
    found = statements._statement("p/one", group, None)
    assert [claim["case"] for claim in found["claims"]] == ["by (12)", "released"]
