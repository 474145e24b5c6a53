"""Check the rows of the ledger and the outcomes of statements."""

from types import SimpleNamespace

import pytest

from privarms.claims import ledger
from privarms.claims.verdict import Measured
from privarms.errors import PrivarmsError

CLAIM = {"claim": "c", "artifact": "fig1", "statement": "s", "published": 5, "measure": "m"}


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
    assert second["statement"] == 'Ours: a, "b"\nc'


def test_an_inconclusive_claim_has_a_margin_below_1():
    row = judged(Measured(5.1, 0.1, 100_000, "Note."))
    assert row["verdict"] == "inconclusive"
    assert row["note"] == "The 99.9% interval contains a limit of the accepted range. Note."
    assert (row["low"], row["high"]) == pytest.approx((5.1 - 0.32905, 5.1 + 0.32905), abs=1e-3)
    assert row["margin"] == pytest.approx(0.1 / 0.32905, abs=1e-3)


def test_a_claim_whose_runs_all_agree_has_a_reason_of_its_own():
    row = judged(Measured(6.0, 0.0, 30))
    assert row["verdict"] == "inconclusive"
    assert "limit of the accepted range" not in row["note"]


def test_a_measure_that_does_not_fit_the_tables_is_an_error_with_the_name_of_its_claim():
    def failing(results):
        raise PrivarmsError("measure.se: no column")

    results = SimpleNamespace(only=lambda over, named: None)
    with pytest.raises(PrivarmsError, match=r"claims\.yaml: five: measure\.se"):
        ledger.measure(failing, results, {"claim": "five"})


def test_a_number_cannot_be_reproduced_by_a_reading_that_was_inferred_from_it():
    row = judged(Measured(6.0), inferred=True)
    assert (row["verdict"], row["note"]) == (
        "unverifiable",
        "It fits, but our assumption was inferred from this number.",
    )
    assert judged(Measured(4.0), inferred=True)["verdict"] == "differs"


def claim(verdict, variant=""):
    return {"verdict": verdict, "variant": variant}


@pytest.mark.parametrize(
    ("group", "outcome"),
    [
        ([claim("reproduced")], "holds as printed"),
        ([claim("reproduced", "as_printed"), claim("differs", "as_released")], "holds as printed"),
        ([claim("differs", "as_printed"), claim("reproduced", "as_released")], "only as released"),
        ([claim("reproduced", "as_released")], "holds as released"),
        ([claim("reproduced"), claim("differs"), claim("unverifiable")], "does not hold"),
        ([claim("differs", "as_printed"), claim("differs", "as_released")], "does not hold"),
        ([claim("differs", "as_printed"), claim("inconclusive", "as_released")], "cannot be told"),
        ([claim("inconclusive", "as_printed"), claim("reproduced", "as_released")], "cannot be told"),
        ([claim("reproduced"), claim("inconclusive")], "cannot be told"),
        ([claim("unverifiable")], "cannot be told"),
    ],
)
def test_what_is_known_of_a_statement_follows_from_the_claims_about_it(group, outcome):
    assert ledger.outcome(group) == outcome


@pytest.mark.parametrize(
    ("assumed", "outcome"), [(("narrow", "wide"), "depends on an assumption"), (("", ""), "does not hold")]
)
def test_a_verdict_that_an_assumption_decides_says_so(assumed, outcome):
    entries = [{"claim": name, "about": "s", "assumes": one} for name, one in zip("cd", assumed, strict=True)]
    rows = [judged(Measured(6.0)), judged(Measured(4.0), claim="d")]
    assert ledger.statements(ledger.about({"p2020": entries}), rows)[0]["outcome"] == outcome


def test_a_claim_that_cannot_judge_the_paper_does_not_enter_the_outcome():
    aside = {"claim": "d", "about": "s", "measure": {}, "unverifiable": "Our constant."}
    rows = [judged(Measured(6.0)), judged(Measured(4.0), claim="d") | {"verdict": "unverifiable"}]
    together = ledger.about({"p2020": [{"claim": "c", "about": "s"}, aside]})
    assert ledger.statements(together, rows)[0]["outcome"] == "holds as printed"
    alone = ledger.statements(ledger.about({"p2020": [aside]}), rows[1:])[0]
    assert (alone["outcome"], alone["unverifiable"]) == ("cannot be told", 1)


def test_claims_about_one_statement_are_one_row(tmp_path):
    own = {"claim": "d", "about": "s", "ours": True}
    claims = {"p2020": [{"claim": "c", "about": "s"}, own, {"claim": "e", "about": "e"}]}
    rows = [judged(Measured(6.0)), judged(Measured(4.0), claim="d"), judged(Measured(6.0), claim="e")]
    ledger.write(ledger.statements(ledger.about(claims), rows), tmp_path / "statements.csv", ledger.STATEMENTS)
    first, second = ledger.read(tmp_path / "statements.csv", ledger.STATEMENTS)
    counts = {"claims": "2", "reproduced": "1", "differs": "1", "inconclusive": "0", "unverifiable": "0"}
    texts = {"statement": "p2020/s", "paper": "p2020", "outcome": "does not hold", "whose": "ours"}
    assert first == texts | counts
    assert (second["statement"], second["outcome"], second["whose"]) == ("p2020/e", "holds as printed", "paper")
    (tmp_path / "statements.csv").write_text((tmp_path / "statements.csv").read_text().replace("whose", "who"))
    with pytest.raises(PrivarmsError, match="expected the columns statement, paper"):
        ledger.read(tmp_path / "statements.csv", ledger.STATEMENTS)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ({"statement": "It is so", "place": "Theorem 1", "test": "T."}, '"It is so" (Theorem 1). Test: T.'),
        ({"statement": "It is so", "place": "Theorem 1, in our words"}, "It is so (Theorem 1, in our words)."),
        ({"statement": "It is so."}, "Ours: It is so."),
    ],
)
def test_only_what_a_paper_says_word_for_word_is_quoted(claim, text):
    assert ledger.stated(claim) == text
