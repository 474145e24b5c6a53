"""Verdicts follow from tolerances that were stated beforehand."""

import pytest

from privarms import ledger
from privarms.errors import PrivarmsError
from privarms.ledger import Measured

CLAIM = {"claim": "c", "artifact": "fig1", "statement": "s", "published": 5, "measure": "m"}


@pytest.mark.parametrize(
    ("tolerance", "value", "se", "expected"),
    [
        ({"at_least": 5}, 5.0, 1.0, True),
        ({"at_least": 5}, 4.999, 1.0, False),
        ({"at_least": 5, "standard_errors": 3}, 5.3, 0.1, True),
        ({"at_least": 5, "standard_errors": 3}, 5.29, 0.1, False),
        ({"at_most": 5, "standard_errors": 3}, 4.7, 0.1, True),
        ({"at_most": 5, "standard_errors": 3}, 4.71, 0.1, False),
        ({"at_least": 4, "at_most": 5}, 5.5, 0.0, False),
        ({"factor": 2}, 2.5, 0.0, True),
        ({"factor": 2}, 10.01, 0.0, False),
        ({"absolute": 0.5}, 5.5, 0.0, True),
        ({"absolute": 0.5}, 5.51, 0.0, False),
        ({"standard_errors": 4}, 5.39, 0.1, True),
        ({"standard_errors": 4}, 5.41, 0.1, False),
        ({"equals": 7, "absolute": 0}, 7.0, 0.0, True),
        ({"at_most": 5}, float("nan"), 0.0, False),
        ({"factor": 2}, float("nan"), 0.0, False),
    ],
)
def test_a_tolerance_holds_or_it_does_not(tolerance, value, se, expected):
    assert ledger.holds(tolerance, 5, Measured(value, se)) is expected


def judged(measured, scale="paper", data="simulated", **claim):
    row = CLAIM | {"tolerance": {"at_least": 5}, "because": "Because."} | claim
    return ledger.judge(row, measured, paper="p2020", scale=scale, data=data)


def test_a_claim_that_holds_is_reproduced_and_one_that_does_not_says_why():
    held, failed = judged(Measured(6.0, note="Note.")), judged(Measured(4.0, note="Note."))
    assert (held["verdict"], held["note"]) == ("reproduced", "Note.")
    assert (failed["verdict"], failed["note"]) == ("differs", "Because. Note.")
    assert (held["claim"], held["artifact"]) == ("p2020/c", "p2020/fig1")


def test_a_stand_in_verifies_nothing():
    row = judged(Measured(6.0), data="stand-in")
    assert row["verdict"] == "unverifiable"
    assert "synthetic stand-in" in row["note"]
    assert row["reproduced"] == 6


def test_the_small_scale_judges_only_what_does_not_hang_on_the_size():
    assert judged(Measured(6.0), scale="quick")["verdict"] == "unverifiable"
    assert judged(Measured(6.0), scale="quick", published_size=False)["verdict"] == "reproduced"


def test_what_could_not_be_measured_is_unverifiable_with_the_reason():
    row = judged("The raw data cannot be had.")
    assert (row["verdict"], row["note"], row["reproduced"]) == ("unverifiable", "The raw data cannot be had.", None)


def test_a_ledger_survives_writing_and_reading(tmp_path):
    path = tmp_path / "ledger.csv"
    rows = [judged(Measured(1 / 3, 0.125, 30)), judged("no", claim="d", statement='a, "b"\nc')]
    ledger.write(rows, path)
    first, second = ledger.read(path)
    assert tuple(first) == ledger.COLUMNS
    assert (first["reproduced"], first["se"], first["replicates"]) == ("0.3333333333", "0.125", "30")
    assert (second["reproduced"], second["se"], second["replicates"]) == ("", "", "")
    assert second["statement"] == 'a, "b"\nc'


def test_writing_what_was_read_changes_no_byte(tmp_path):
    ledger.write([judged(Measured(1 / 3, 0.125, 30)), judged("no", claim="d")], tmp_path / "a.csv")
    ledger.write(ledger.read(tmp_path / "a.csv"), tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_published_text_needs_a_bound():
    with pytest.raises(PrivarmsError, match="needs a published number"):
        ledger.holds({"factor": 2}, "much more", Measured(1.0))
