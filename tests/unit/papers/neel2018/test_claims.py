"""Every measure of the claims of Neel & Roth 2018 on tables of a few rows, worked by hand."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privarms.claims import ledger
from privarms.claims.verdict import Measured
from privarms.errors import NoCellsError
from privarms.papers.neel2018.claims import MEASURES
from privarms.studies import claims

CONFIG = Path(__file__).parents[4] / "config"
PUBLISHED = claims.published(CONFIG / "papers/neel2018")
UCB, PRINTED, RELEASED = (
    {"policy": "ucb"},
    *({"policy": "private_ucb", "variant": f"as_{v}"} for v in ("printed", "released")),
)
NOISE = {"policy": "private_ucb_noise_only", "variant": "as_printed"}
ONE = {"experiment": "1", "ladder": "1.00-0.05", "K": 20, "horizon": 500, "epsilon": 0.05}
TWO = {"experiment": "2", "ladder": "1.00-0.05", "K": 5, "horizon": 100_000, "epsilon": 400.0}


class Made:
    """Results whose tables are frames by name, inference tables and cells alike."""

    def __init__(self, **tables):
        self._tables = {name: frame(rows) for name, rows in tables.items()}

    def inference(self, name):
        return self._tables[name]

    cells = inference

    def published(self, number):
        return PUBLISHED["numbers"][number]

    def published_table(self, name, **options):
        return pd.DataFrame(PUBLISHED["tables"][name]).astype(options["dtype"])


def frame(rows):
    """Rows with a variant, none where they give none."""
    return pd.DataFrame([{"variant": None} | row for row in rows])


def average(setting, policy, size="all", **values):
    """A row of average_bias; a policy without a budget has none."""
    row = setting | policy | {"size": size, "replicates": 4_000, "average": 0.01, "average_se": 0.0}
    row |= {"expected": 0.01, "expected_se": 0.0, "spread": 0.001}
    row |= {
        "average_if_unbiased": 0.001,
        "worst_arm": 3,
        "worst": -0.07,
        "worst_se": 0.001,
        "last": -0.02,
        "last_se": 0.0,
    }
    row |= {"regret": 100.0, "regret_se": 0.0}
    return row | ({"epsilon": None} if policy == UCB else {}) | values


def verdict(measured, tolerance, published="so"):
    claim = {"claim": "c", "artifact": "a", "statement": "s", "published": published, "tolerance": tolerance}
    return ledger.judge(claim, measured, paper="neel2018", scale="paper", data="simulated")["verdict"]


def measure(name, results, **arguments):
    return MEASURES[name](results, **arguments)


def test_average_bias():
    made = Made(
        average_bias_experiment_1=[
            average(ONE, PRINTED, expected=0.00176, expected_se=1e-7, spread=3e-5, average=0.0015, replicates=100_000),
            average(ONE, PRINTED, "published", expected=0.9),
            average(ONE, RELEASED, expected=0.5),
            average(ONE, UCB, expected=0.07),
        ]
    )
    found = measure("average_bias", made, experiment="1", **PRINTED)
    assert (found.value, found.se, found.replicates) == (0.00176, 1e-7, 100_000)
    assert measure("average_bias", made, experiment="1", policy="ucb").value == 0.07
    with pytest.raises(NoCellsError, match=r"ladder 0\.90-0\.05"):
        measure("average_bias", made, experiment="1", policy="ucb", ladder="0.90-0.05")


def arms(setting, policy, *values, replicates=40_000):
    """Rows of bias, an arm each: (bias, se); the first of mean 1, without any error."""
    row = setting | policy | {"size": "all", "replicates": replicates}
    found = [row | {"arm": 0, "mean": 1.0, "bias": 0.0, "se": 0.0}]
    found += [row | {"arm": i, "mean": 1 - i / 20, "bias": b, "se": s} for i, (b, s) in enumerate(values, start=1)]
    return [*found, found[-1] | {"size": "published", "bias": 99.0}]


def test_worst_bias():
    rows = arms(ONE, UCB, (-0.02, 0.001), (-0.14, 0.001)) + arms(ONE, PRINTED, (0.01, 0.001))
    made = Made(bias_experiment_1=rows)
    found = measure("worst_bias", made, experiment="1", policy="ucb")
    assert (found.value, found.se) == (0.14, 0.001)
    # Both arms' intervals hold together: 3.48 standard errors in place of 3.29.
    assert found.interval == pytest.approx((0.14 - 0.00348, 0.14 + 0.00348), abs=1e-5)


def test_largest_signed_bias():
    def found(*values):
        return measure(
            "largest_signed_bias", Made(bias_experiment_2=arms(TWO, UCB, *values)), experiment="2", policy="ucb"
        )

    below, above, near = (
        found((-0.02, 0.001), (-0.01, 0.001)), found((-0.02, 0.001), (0.01, 0.001)), found((-0.002, 0.001))
    )  # fmt: skip
    assert [m.value for m in (below, above, near)] == [-0.01, 0.01, -0.002]
    assert [verdict(m, {"at_most": 0}) for m in (below, above, near)] == ["reproduced", "differs", "inconclusive"]


def test_private_share():
    def found(fraction):
        even = [ONE | PRINTED | {"fraction": fraction, "replicates": 100_000}]
        plain = [average(ONE, UCB, average=0.04, average_se=0.001, replicates=100_000)]
        return measure("private_share", Made(round_robin=even, average_bias_experiment_1=plain), variant="as_printed")

    always, often = found(1.0), found(0.9)
    # No uneven run in 100,000: at most ln(4000) / 100,000, over .04 less 3.48 standard errors.
    assert always.interval == (0, pytest.approx(math.log(4000) / 1e5 / (0.04 - 3.48e-3), rel=1e-3))
    assert always.value == 0
    # That the pulls are uneven in a tenth of the runs leaves the bias open.
    assert verdict(often, {"at_most": 0.025}) == "inconclusive"


def test_bias_reduction():
    made = Made(
        average_bias_experiment_2=[
            average(TWO, UCB, expected=0.012),
            average(TWO, PRINTED, expected=0.0015),
            average(TWO, RELEASED, expected=0.003, expected_se=0.0003),
        ]
    )
    printed = measure("bias_reduction", made, experiment="2", variant="as_printed")
    released = measure("bias_reduction", made, experiment="2", variant="as_released")
    assert printed.value == pytest.approx(8)
    assert (released.value, released.se) == (pytest.approx(4), pytest.approx(0.4))


def test_last_arm_reduction():
    last = [average(TWO, UCB, last=-0.04), average(TWO, PRINTED, last=-0.002), average(TWO, RELEASED, last=-0.02)]
    made = Made(average_bias_experiment_2=last)
    found = [measure("last_arm_reduction", made, variant=v) for v in ("as_printed", "as_released")]
    assert [m.value for m in found] == pytest.approx([20, 2])


def test_bias_in_published_errors():
    # 40,000 of ours beside 10,000 published: 4 of our standard errors are 2 of theirs, known to half of one.
    rows = arms(ONE, UCB, (-0.001, 0.001), (-0.001, 0.001), (-0.03, 0.001), (-0.02, 0.001))
    made = Made(bias_experiment_1=rows + arms(ONE, PRINTED, (0.001, 0.001)))
    smallest = [
        measure("smallest_in_published_errors", made, experiment="1", policy="ucb", first_arm=a) for a in (3, 2)
    ]
    assert [m.value for m in smallest] == pytest.approx([10, 0.5])
    assert (smallest[0].se, smallest[0].replicates) == (0.5, 40_000)
    assert [verdict(m, {"at_least": 1.96}) for m in smallest] == ["reproduced", "inconclusive"]
    largest = [
        measure("largest_in_published_errors", made, experiment="1", policy="ucb"),
        measure("largest_in_published_errors", made, experiment="1", policy="ucb", last_arm=2),
        measure("largest_in_published_errors", made, experiment="1", **PRINTED),
    ]
    assert [m.value for m in largest] == pytest.approx([15, 0.5, 0.5])
    # Two arms' intervals are wider than one's.
    assert largest[1].interval[1] > largest[2].interval[1]


def test_adaptive_fraction():
    rows = [ONE | p | {"fraction": f, "replicates": 100} for p, f in ((PRINTED, 1.0), (RELEASED, 0.75))]
    made = Made(round_robin=rows)
    found = [measure("adaptive_fraction", made, variant=v) for v in ("as_released", "as_printed")]
    assert [m.value for m in found] == [0.25, 0.0]
    assert found[1].interval[1] == pytest.approx(math.log(2000) / 100, rel=0.05)
    assert verdict(found[1], {"at_least": 0.01}) == "inconclusive"


def of_arms(experiment, policy, epsilon, *arms):
    """Rows of bias at one epsilon, an arm each: (bias, se, bound)."""
    row = {"experiment": experiment, "horizon": 500, "epsilon": epsilon, "size": "all", "replicates": 100, "mean": 0.5}
    return [row | policy | {"bias": b, "se": s, "bound": bound} for b, s, bound in arms]


def test_theorem_1():
    made = Made(
        # |bias| / bound: .6, .7; an arm of mean 1 has no error.
        bias_epsilon_sweep=of_arms(
            "epsilon_sweep", NOISE, 1.0, (-0.06, 0.001, 0.1), (0.14, 0.001, 0.2), (0.0, 0.0, 0.0)
        )
        + of_arms("epsilon_sweep", NOISE | {"variant": "as_released"}, 1.0, (0.5, 0.0, 0.1))
        + of_arms("epsilon_sweep", PRINTED, 1.0, (0.5, 0.01, 0.1)),
        bias_corollary_1=of_arms("corollary_1", NOISE, 0.2, (-0.8, 0.05, 0.3)),
    )
    found = measure("theorem_1", made, policy="private_ucb_noise_only", studies=["epsilon_sweep"])
    assert found.value == pytest.approx(0.7)
    assert verdict(found, {"at_most": 0.69}) == "inconclusive"
    both = measure("theorem_1", made, policy="private_ucb_noise_only", studies=["epsilon_sweep", "corollary_1"])
    assert both.value == pytest.approx(0.8 / 0.3)


def test_the_form_of_the_proof_counts_underestimation_alone():
    made = Made(bias_epsilon_sweep=of_arms("epsilon_sweep", NOISE, 1.0, (-0.06, 0.001, 0.1), (0.9, 0.001, 0.2)))
    found = measure("theorem_1", made, policy="private_ucb_noise_only", studies=["epsilon_sweep"], form="proof")
    # The means are .5: (1 - 1/e) .5.
    assert found.value == pytest.approx(0.06 / (0.5 - 0.5 / math.e))
    assert found.se == pytest.approx(0.001 / (0.5 - 0.5 / math.e))


def test_theorem_1_is_nearly_attained():
    found = [measure("theorem_1_attained", None, epsilon=e, mu=0.01, horizon=500) for e in (5, 0.05)]
    # (1 - mu) (T - 1) / T over 1 + e^-eps.
    expected = [0.99 * 499 / 500 / (1 + math.exp(-e)) for e in (5, 0.05)]
    assert [m.value for m in found] == pytest.approx(expected)


def audited(epsilon, loss, **values):
    row = {"policy": "private_ucb", "variant": "as_printed", "epsilon": epsilon, "horizon": 501, "trials": 1_000}
    row |= {"exact": math.nan, "event": None, "noise": None}
    return row | {"loss": loss, "loss_low": loss - 0.02, "loss_high": loss + 0.02} | values


def test_loss_of_last_choice():
    rows = [audited(0.05, 0.01), audited(0.05, 0.2, variant="as_released", exact=0.2), audited(1.0, 3.0)]
    rows += [audited(0.05, 3.0, event="doublings", noise=1.0)]
    made = Made(audit=rows)
    found = [measure("loss_of_last_choice", made, variant=f"as_{v}", epsilon=0.05) for v in ("printed", "released")]
    assert [m.value for m in found] == pytest.approx([0.2, 4])
    assert found[1].interval == pytest.approx((3.6, 4.4))


def test_loss_of_doublings():
    def found(loss, broken):
        rows = [audited(0.05, 9.0), audited(1.0, 9.0, event="doublings", noise=1.0)]
        rows += [audited(0.05, loss, event="doublings", noise=1.0), audited(0.05, broken, event="doublings", noise=0.1)]
        return measure("loss_of_doublings", Made(audit=rows), epsilon=0.05, broken=0.1)

    private, leaks, blind = found(0.02, 0.1), found(0.1, 0.15), found(0.02, 0.06)
    assert [m.value for m in (private, leaks, blind)] == pytest.approx([0.4, 2, 0.4])
    assert [verdict(m, {"at_most": 1}) for m in (private, leaks, blind)] == ["reproduced", "differs", "inconclusive"]


def test_corollary_1_regret():
    def at(policy, horizon, regret):
        return average({"experiment": "corollary_1", "K": 5, "horizon": horizon, "epsilon": 0.1}, policy, regret=regret)

    order = {T: math.sqrt(5 * T * math.log(T)) for T in (1_000, 10_000)}
    rows = [at(NOISE, 10_000, 1.5 * order[10_000]), at(NOISE, 1_000, order[1_000])]
    rows += [at(PRINTED, 1_000, order[1_000]), at(PRINTED, 10_000, 3 * order[10_000])]
    made = Made(average_bias_corollary_1=rows)
    found = [measure("corollary_1_regret", made, policy=p["policy"]) for p in (NOISE, PRINTED)]
    assert [m.value for m in found] == pytest.approx([1.5, 3])


def along(policy, *points, horizon=100, **setting):
    """Cells with regret along the way: (t, regret)."""
    row = {"horizon": horizon, "replicates": 50, "regret_se": 0.0} | setting | policy
    return [row | {"t": t, "regret_mean": r} for t, r in points]


def test_regret_ratio():
    ends = along(UCB, (50, 1.0), (100, 10.0)) + along(PRINTED, (50, 9.0), (100, 15.0)) + along(RELEASED, (100, 30.0))
    found = [measure("regret_ratio", Made(regret_2=ends), variant=v) for v in ("as_printed", "as_released")]
    assert [m.value for m in found] == [1.5, 3]


def test_average_regret_fall():
    # Per round: .4 at 40, .5 at 60, .3 at 100; then .1 and .2.
    rows = along(PRINTED, (40, 16.0), (60, 30.0), (100, 30.0)) + along(RELEASED, (50, 5.0), (100, 20.0))
    found = [measure("average_regret_fall", Made(regret_2=rows), variant=v) for v in ("as_printed", "as_released")]
    assert [m.value for m in found] == pytest.approx([0.75, 2])


def test_uniform_regret():
    # Even pulls cost (1 - 0) / 2 a round.
    setting = {"top": 1.0, "bottom": 0.0}
    setting |= {"replicates": 5000}
    rows = along(PRINTED, (50, 1.0), (100, 50.0), **setting) + along(RELEASED, (100, 25.0), **setting)
    found = [measure("uniform_regret", Made(regret_1=rows), variant=v) for v in ("as_printed", "as_released")]
    assert [m.value for m in found] == [1, 0.5]
    # Runs that agree do not say that all runs would.
    few = measure("uniform_regret", Made(regret_1=[r | {"replicates": 50} for r in rows]), variant="as_printed")
    assert verdict(few, {"at_least": 0.99}) == "inconclusive"


def z_test(policy, rate, standard_error="correct", coordinate="zero", estimator="ols", **values):
    named = {"policy": policy, "standard_error": standard_error, "coordinate": coordinate, "estimator": estimator}
    return named | {"rejection_rate": rate, "se": 0.001, "ks": 0.02, "ks_p": 0.5, "replicates": 40_000} | values


def test_rejection_rate():
    made = Made(
        rejections=[
            z_test("oful", 0.05),
            z_test("oful", 0.5, "variance"),
            z_test("oful", 0.06, coordinate="largest"),
            z_test("uniform", 0.04),
            z_test("uniform", 0.66, "variance", "largest"),
            z_test("linear_ucb_as_released", 0.76, "variance", "largest", "policy"),
            z_test("linear_ucb_as_released", 0.7, "variance", "largest"),
        ]
    )
    test = {"standard_error": "variance", "coordinate": "largest", "estimator": "policy"}
    released = measure("rejection_rate", made, policy="linear_ucb_as_released", **test)
    printed = measure("rejection_rate", made, policy="oful", standard_error="correct", coordinate="zero")
    assert (released.value, printed.value) == (0.76, 0.05)
    # Clopper and Pearson's ends, a little wider to the right.
    assert printed.interval == pytest.approx((0.0465, 0.0537), abs=2e-4)


def test_uniformity():
    rows = [z_test("oful", 0.05, ks=0.005), z_test("oful", 0.05, "variance", ks=0.9), z_test("uniform", 0.9, ks=0.3)]
    found = [measure("uniformity", Made(rejections=rows), policy=p) for p in ("oful", "uniform")]
    assert [m.value for m in found] == [0.005, 0.3]
    # sqrt(ln(2000) / 80,000) to either side, and no less than 0.
    assert found[0].interval == (0, pytest.approx(0.005 + 0.009747, rel=1e-3))


def test_selection_bias():
    row = {"policy": "oful", "estimator": "ols", "coordinate": "largest", "se": 0.01, "standard_error": 0.2}
    row |= {"replicates": 100, "bias": 0.08}
    rows = [row | {"coordinate": "zero", "bias": 9.0}, row, row | {"policy": "uniform", "bias": -0.01}]
    found = [measure("selection_bias", Made(selection=rows), policy=p) for p in ("oful", "uniform")]
    assert [(m.value, m.se) for m in found] == [(0.08, 0.01), (-0.01, 0.01)]
    assert [verdict(m, {"at_least": 0}) for m in found] == ["reproduced", "inconclusive"]


def test_largest_false_discovery():
    row = {"policy": "private_ucb", "ladder": "0.50-0.00", "selector": "least_pulled", "naive": 0.2}
    row |= {"replicates": 10_000, "tests": 10_000}
    rows = [
        row | {"epsilon": 0.1, "corrected": 0.01, "released": 0.06},
        row | {"epsilon": 1.0, "corrected": 0.03, "released": 0.02},
        # Four tests in five are of nothing: .1 of the rest are .02 of all.
        row | {"epsilon": 1.0, "corrected": 0.1, "released": 0.0, "replicates": 2_000},
        row | {"epsilon": 1.0, "corrected": None, "released": None, "replicates": 0},
        row | {"epsilon": None, "corrected": None, "released": None, "policy": "ucb", "naive": 0.4},
    ]
    found = [
        measure("largest_false_discovery", Made(false_discovery=rows), correction=c) for c in ("corrected", "released")
    ]
    assert [m.value for m in found] == [0.03, 0.06]
    assert [m.replicates for m in found] == [10_000, 10_000]
    # Three intervals at once.
    assert found[0].interval[0] < Measured.fraction(300, 10_000).interval[0]


def x(epsilon, T, beta):
    """Theorem 4's exponent in nats."""
    return epsilon**2 * T / 2 + epsilon * math.sqrt(T * math.log(2 / beta) / 2)


def best_level(alpha, epsilon, T):
    """gamma(alpha) at its best beta by trying many."""
    return max((alpha - b) * math.exp(-x(epsilon, T, b)) for b in np.geomspace(alpha * 1e-4, alpha * 0.9999, 20_000))


def test_the_measures_of_the_correction():
    constant = measure("correction_constant", None)
    assert constant.value == pytest.approx(best_level(0.05, 1e-3, 10**6) / best_level(0.05, 0.1, 100), rel=1e-6)
    over_alpha = measure("correction_over_alpha", None)
    scaled = [best_level(a, 500**-0.5, 500) / a for a in (0.1, 1e-6)]
    assert over_alpha.value == pytest.approx(scaled[1] / scaled[0], rel=1e-4)


def test_ladder_fit():
    def pair(ucb, printed, released):
        values = zip((UCB, PRINTED, RELEASED), (ucb, printed, released), strict=True)
        rows = [average(TWO, p, expected=a, expected_se=0.0001, spread=0.0002) for p, a in values]
        return measure("ladder_fit", Made(average_bias_experiment_2=rows), ladder="1.00-0.05")

    near, far = pair(0.0112, 0.0025, 0.0013), pair(0.005, 0.0015, 0.0015)
    # Published: .011 and .0015; the nearer variant counts.
    assert (near.value, far.value) == (pytest.approx(1), pytest.approx(30))
    # Three distances, each known to half a standard deviation: 3.59 of these halves.
    assert near.interval[1] == pytest.approx(1 + 3.59 / 2, abs=0.01)


def in_setting(experiment, policy, law, delta=None, variant=None, **values):
    row = {"experiment": experiment, "policy": policy, "variant": variant, "law": law, "delta": delta, "K": 20}
    row |= {"ladder": "1.00-0.05", "horizon": 500, "epsilon": None, "replicates": 20_000, "runs": 10_000}
    row |= {"expected": 0.5, "expected_se": 0.0, "spread": 0.01, "worst_arm": 3, "worst": -0.5, "worst_se": 0.001}
    return row | values


def fit(rows, experiment, kind="", delta="", units=(0.0, 0.0, 0.0)):
    named = {"experiment": experiment, "law": "normal", "ladder": "1.00-0.05", "kind": kind, "delta": delta}
    return measure("setting_fit", Made(published_settings=rows), **named, units=list(units))


def test_the_numbers_of_experiment_1_in_a_setting():
    # Published: .0698, .00176, .14. Of 20,000 runs the worst arm is known to .001, of 10,000 to .0014.
    rows = [
        in_setting("1", "ucb", "normal", expected=0.0798, expected_se=0.001, worst=-0.14, worst_se=0.001),
        in_setting("1", "private_ucb", "normal", None, "as_released", expected=0.00176),
        in_setting("1", "ucb_constant_delta", "normal", 0.9, expected=0.9),
        in_setting("1", "private_ucb_constant_delta", "normal", 0.9, "as_released", expected=0.9),
        in_setting("1", "ucb_constant_delta", "normal", 0.95, expected=0.0698, worst=-0.14 - 0.005, worst_se=0.001),
        in_setting("1", "private_ucb_constant_delta", "normal", 0.95, "as_released", expected=0.00176),
        in_setting("1", "ucb", "bernoulli", expected=0.04),
        in_setting("1", "private_ucb", "bernoulli", None, "as_released", expected=0.04),
    ]
    last, old = fit(rows, "1"), fit(rows, "1", "_constant_delta", 0.95)
    # (.0798 - .0698) / .01, known to a tenth, and the worst arm to .7; three such intervals at once.
    assert last.value == pytest.approx(1)
    assert last.interval == pytest.approx((1 - 0.359, 3.59 / math.sqrt(2)), abs=0.003)
    assert old.value == pytest.approx(0.005 / 0.001 / math.sqrt(2))
    assert [verdict(m, {"at_most": 2.6}) for m in (last, old)] == ["reproduced", "inconclusive"]
    # Half a unit of the last digit is no distance.
    assert fit(rows, "1", "_constant_delta", 0.95, units=(0, 0, 0.005)).value == pytest.approx(0)


def test_the_numbers_of_experiment_2_in_a_setting():
    # Published: .011, .0015, 7.5.
    rows = [
        in_setting("2", "ucb", "normal", expected=0.011, spread=0.0011, replicates=1_000),
        in_setting("2", "private_ucb", "normal", None, "as_released", expected=0.0022, spread=0.0, replicates=2_000),
    ]
    rows[1]["spread"] = 0.0007
    found = fit(rows, "2")
    # The ratio is 5, by .1 and .318 of it: 2.5 / 1.668; the private number is the same .0007 away.
    error = 5 * math.hypot(0.1, 0.0007 / 0.0022)
    assert found.value == pytest.approx(2.5 / error)
    assert found.replicates == 1_000
