"""Names for programs become words, and nothing else changes."""

import pytest

from privarms.report import words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dp_se as_printed", "DP-SE as printed"),
        (
            "policies/dp_se.py and https://a.org/dp_se?dp_se=dp_se",
            "policies/dp_se.py and https://a.org/dp_se?dp_se=dp_se",
        ),
        ("at T = 1e+04 and 1e-127 or 1.38e+05.", "at T = 10\u202f000 and 1e-127 or 138\u202f000."),
    ],
)
def test_names_in_a_text(text, said):
    assert words.Names({"dp_se": ("DP-SE", "")}).plain(text) == said


def test_what_has_a_place_is_a_link_and_the_rest_is_text():
    names = words.Names({"fig6_size": ("Figure 6", "one/fig6_size")})
    said = str(names.linked("<b> fig6_size, `column_name`, https://a.org/x."))
    assert said == (
        '&lt;b&gt; <a href="#one/fig6_size">Figure 6</a>, <i>column name</i>, '
        '<a href="https://a.org/x" rel="noreferrer">https://a.org/x</a>.'
    )
