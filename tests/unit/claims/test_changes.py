"""Changes between two ledgers."""

from privarms.claims import changes


def row(claim, verdict, reproduced="1", variant="", **more):
    base = {"claim": claim, "variant": variant, "verdict": verdict, "reproduced": reproduced}
    return base | {"published": "2", "tolerance": "exactly", "data": "simulated"} | more


BEFORE = [
    row("p/a", "reproduced"),
    row("p/b", "differs"),
    row("p/b", "differs", variant="as_released"),
    row("p/c", "reproduced"),
    row("p/d", "reproduced"),
    row("p/e", "reproduced"),
]
AFTER = [
    row("p/a", "reproduced"),
    row("p/b", "reproduced", "3"),
    row("p/b", "differs", variant="as_released"),
    row("p/c", "reproduced", "1.5"),
    row("p/e", "reproduced", published="7"),
    row("p/f", "inconclusive"),
]


def test_every_change_is_of_one_kind():
    found = changes.compare(BEFORE, AFTER)
    assert [b["claim"] for _, b in found.judged] == ["p/b"]
    assert [r["claim"] for r in found.new] == ["p/f"]
    assert [r["claim"] for r in found.gone] == ["p/d"]
    assert [b["claim"] for _, b in found.moved] == ["p/c", "p/e"]
    assert found.verdicts == 3
