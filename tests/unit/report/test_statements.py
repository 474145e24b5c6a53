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
