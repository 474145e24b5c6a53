"""Check the measures of Neel & Roth 2018 that are functions, on small tables with values worked by hand."""

import math
from functools import partial

import numpy as np
import pytest

from privarms.claims.verdict import region
from privarms.studies import claims, library
from tests import PAPERS

from .. import chosen

MEASURES = library.paper_functions("neel2018", "measures")
PUBLISHED = claims.published(PAPERS / "neel2018")
PRINTED, RELEASED = ({"policy": "private_ucb", "variant": f"as_{v}"} for v in ("printed", "released"))
results = partial(chosen.results, published=PUBLISHED["numbers"], tables={})


def verdict(measured, tolerance):
    return region(tolerance, "so", measured).decide(measured)


def measure(name, results, **arguments):
    return MEASURES[name](results, **arguments)


def test_the_published_averages_of_experiment_1_have_no_ratio_of_40():
    names = {"top": "experiment_1_ucb_bias", "bottom": "experiment_1_private_bias"}
    actual = measure("published_quotient", results(), **names, units=[0.00005, 0.000005])
    assert actual.value == pytest.approx(39.66, abs=0.005)
    assert actual.interval == (pytest.approx(0.06975 / 0.001765), pytest.approx(0.06985 / 0.001755))
    assert verdict(actual, {"at_least": 40}) == "differs"
    # With one digit fewer, the published numbers could give this ratio.
    coarse = measure("published_quotient", results(), **names, units=[0.0005, 0.00005])
    assert verdict(coarse, {"at_least": 40}) != "differs"


def test_the_selector_that_adapts_catches_every_wrong_correction():
    def over(beta, alphas):
        named = {"horizon": 500, "epsilons": [0.02, 500**-0.5, 0.1, 1], "alphas": alphas, "beta": beta}
        return verdict(measure("response_level", None, **named), {"at_most": 1})

    alphas = [0.05, 1e-3, 1e-6]
    assert over("best", alphas) == "reproduced"
    assert [over(beta, alphas) for beta in ("none", "2k", 0.05, 0.999)] == ["differs"] * 4
    # At .05 the printed correction keeps its level.
    assert over(0.05, [0.05]) == "reproduced"


def test_consequences_of_theorem_2():
    named = {"horizons": [10**3, 10**6, 10**12], "arms": 5}
    assert measure("order_over", None, **named, budget="tradeoff").value == 1
    assert measure("order_over", None, **named, budget="least").value < 1


def audited(epsilon, loss, **values):
    row = {"policy": "private_ucb", "variant": "as_printed", "epsilon": epsilon, "horizon": 501, "trials": 1_000}
    row |= {"exact": math.nan, "event": None, "noise": None}
    return row | {"loss": loss, "loss_low": loss - 0.02, "loss_high": loss + 0.02} | values


def test_loss_of_doublings():
    def measured(loss, broken):
        rows = [audited(0.05, 9.0), audited(1.0, 9.0, event="doublings", noise=1.0)]
        rows += [audited(0.05, loss, event="doublings", noise=1.0), audited(0.05, broken, event="doublings", noise=0.1)]
        return measure("loss_of_doublings", results(audit=rows), epsilon=0.05, broken=0.1)

    private, leaks, blind = measured(0.02, 0.1), measured(0.1, 0.15), measured(0.02, 0.06)
    assert [m.value for m in (private, leaks, blind)] == pytest.approx([0.4, 2, 0.4])
    assert [verdict(m, {"at_most": 1}) for m in (private, leaks, blind)] == ["reproduced", "differs", "inconclusive"]


def along(policy, *points, horizon=100, **setting):
    """Return cells with regret at several rounds: (t, regret)."""
    row = {"horizon": horizon, "replicates": 50, "regret_se": 0.0} | setting | policy
    return [row | {"t": t, "regret_mean": r} for t, r in points]


def by_variant(name, **cells):
    """Return a measure of these cells for both variants."""
    return [measure(name, results(cells=cells), variant=v).value for v in ("as_printed", "as_released")]


def test_average_regret_fall():
    # Per round: .4 at 40, .5 at 60, .3 at 100; then .1 and .2.
    rows = along(PRINTED, (40, 16.0), (60, 30.0), (100, 30.0)) + along(RELEASED, (50, 5.0), (100, 20.0))
    assert by_variant("average_regret_fall", regret_2=rows) == pytest.approx([0.75, 2])


def test_uniform_regret():
    # Equal pulls cost (1 - 0) / 2 per round.
    setting = {"top": 1.0, "bottom": 0.0, "replicates": 5000}
    rows = along(PRINTED, (50, 1.0), (100, 50.0), **setting) + along(RELEASED, (100, 25.0), **setting)
    assert by_variant("uniform_regret", regret_1=rows) == [1, 0.5]
    # Identical runs do not prove that all runs agree.
    few = results(cells={"regret_1": [row | {"replicates": 50} for row in rows]})
    assert verdict(measure("uniform_regret", few, variant="as_printed"), {"at_least": 0.99}) == "inconclusive"


def x(epsilon, T, beta):
    """Return Theorem 4's exponent in nats."""
    return epsilon**2 * T / 2 + epsilon * math.sqrt(T * math.log(2 / beta) / 2)


def best_level(alpha, epsilon, T):
    """Return gamma(alpha) at the best beta of a grid."""
    return max((alpha - b) * math.exp(-x(epsilon, T, b)) for b in np.geomspace(alpha * 1e-4, alpha * 0.9999, 20_000))


def test_correction_scale():
    constant = measure("correction_scale", None, horizons=[100, 10**6], alphas=[0.05], beta="best")
    assert constant.value == pytest.approx(best_level(0.05, 1e-3, 10**6) / best_level(0.05, 0.1, 100), rel=1e-6)
    over_alpha = measure("correction_scale", None, horizons=[500], alphas=[0.1, 1e-6], beta="best")
    scaled = [best_level(a, 500**-0.5, 500) / a for a in (0.1, 1e-6)]
    assert over_alpha.value == pytest.approx(scaled[1] / scaled[0], rel=1e-4)
    # The printed beta does not depend on alpha.
    printed = measure("correction_scale", None, horizons=[500], alphas=[0.1, 1e-6], beta=0.05)
    assert printed.value == pytest.approx(1)
