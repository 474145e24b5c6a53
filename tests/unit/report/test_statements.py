"""Numbers for readers."""

import pytest

from privarms.report.statements import brief


@pytest.mark.parametrize(
    ("text", "shown"),
    [("50000000.0", "50\u202f000\u202f000"), ("-0.30000000000000004", "−0.3"), ("2019", "2019"), (">= 5", ">= 5"),
     ("", ""), ("nan", ""), ("1e-12", "1e-12"), ("-12345", "−12\u202f345"), ("inf", "∞"), ("-inf", "−∞"),
     ("1476490.3", "1\u202f476\u202f490"), ("1e+20", "1e+20")],
)  # fmt: skip
def test_brief(text, shown):
    assert brief(text) == shown
