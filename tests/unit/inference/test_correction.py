"""Check p-values of a user's history, before and after correction, against formulas worked by hand."""

import math

import pytest
from scipy.stats import binomtest

from privarms.errors import PrivarmsError
from privarms.inference import correction

ROUNDS = [(0, 1)] * 9 + [(0, 0)] + [(1, 1)] * 5 + [(1, 0)] * 5


@pytest.fixture
def history(tmp_path):
    file = tmp_path / "history.csv"
    file.write_text("arm,reward\n" + "".join(f"{arm},{reward}\n" for arm, reward in ROUNDS))
    return file


def test_the_numbers_are_those_of_theorems_3_and_4(history):
    epsilon, T, beta = 0.1, 20, 0.01
    actual = correction.correct(history, epsilon=epsilon, beta=beta)
    one = correction.correct(history, epsilon=epsilon, beta=beta, arm=0)
    expected = [binomtest(s, 10, 0.5, alternative="greater").pvalue for s in (9, 5)]
    assert list(actual["p_value"]) == pytest.approx(expected)
    nats = epsilon**2 * T / 2 + epsilon * math.sqrt(T * math.log(2 / beta) / 2)
    corrected = [p * math.exp(nats) + beta for p in expected]
    assert list(actual["corrected_p_value"]) == pytest.approx([min(1, 2 * p) for p in corrected])
    assert list(one["corrected_p_value"]) == pytest.approx(corrected[:1])
    assert actual.attrs["corrected_level"] == pytest.approx((0.025 - beta) * math.exp(-nats))
    assert one.attrs["corrected_level"] == pytest.approx((0.05 - beta) * math.exp(-nats))
    assert (list(actual["pulls"]), list(actual["mean"])) == ([10, 10], [0.9, 0.5])


def test_the_correction_takes_away_what_adaptivity_may_have_given(history):
    weak, strong = (correction.correct(history, epsilon=epsilon) for epsilon in (1e-6, 3.0))
    assert list(weak["rejected"]) == list(weak["rejected_corrected"]) == [True, False]
    assert list(strong["rejected"]) == [True, False]
    assert list(strong["rejected_corrected"]) == [False, False]


def test_who_takes_the_smallest_of_all_p_values_has_paid_for_it(tmp_path):
    # 9 of 10, p = .011, is the best of 20 arms. It is significant only if the arm is fixed in advance or by its pulls.
    file = tmp_path / "history.csv"
    rounds = [(0, 1)] * 9 + [(0, 0)] * 2 + [(arm, i % 2) for arm in range(1, 20) for i in range(10)]
    file.write_text("arm,reward\n" + "".join(f"{arm},{reward}\n" for arm, reward in rounds))
    table = correction.correct(file, epsilon=1e-6)
    assert not table["rejected_corrected"].any()
    assert set(table["holds_for"]) == {correction.ALL}
    assert "however it is chosen" in correction.described(table)
    for arm in ("0", "most-pulled"):
        one = correction.correct(file, epsilon=1e-6, arm=arm)
        assert (list(one["arm"]), list(one["rejected_corrected"])) == ([0], [True])
        assert "fixed beforehand or chosen only by the pulls" in correction.described(one)


def test_rewards_that_are_no_coins_take_hoeffding_s_bound(tmp_path):
    file = tmp_path / "history.csv"
    file.write_text("arm,reward\n" + "0,0.8\n" * 30 + "1,0.2\n" * 30)
    actual = correction.correct(file, epsilon=0.1)
    divergence = 0.8 * math.log(0.8 / 0.5) + 0.2 * math.log(0.2 / 0.5)
    assert list(actual["p_value"]) == pytest.approx([math.exp(-30 * divergence), 1.0])
    assert "Hoeffding" in correction.described(actual)


def test_the_text_gives_the_decisions_and_the_p_value_that_rejects(history):
    epsilon, T, beta = 0.1, 20, 0.01
    lines = correction.described(correction.correct(history, epsilon=epsilon, beta=beta)).splitlines()
    nats = epsilon**2 * T / 2 + epsilon * math.sqrt(T * math.log(2 / beta) / 2)
    reached = (0.025 - beta) * math.exp(-nats)
    assert f"needs p <= {reached:.3g}, {0.05 / reached:.3g} times smaller" in lines[1]
    # p = 11/1024 for 9 of 10; 2 (p e^nats + beta) is its corrected value.
    p = 11 / 1024
    assert lines[4].split() == ["0", "10", "0.9000", f"{p:.3g}", f"{2 * (p * math.exp(nats) + beta):.3g}", "yes", "no"]
    assert "so no p-value can reject" in correction.described(correction.correct(history, epsilon=50.0))


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"epsilon": 0.0}, "epsilon: expected a finite number > 0"),
        ({"epsilon": -1.0}, "epsilon: expected a finite number > 0"),
        ({"epsilon": math.nan}, "epsilon: expected a finite number > 0"),
        ({"epsilon": [0.1, 0.2]}, "epsilon: expected one number"),
        ({"null": 1.0}, "null: expected a number in (0, 1)"),
        ({"level": 0.0}, "level: expected a number in (0, 1)"),
        ({"level": -0.1}, "level: expected a number in (0, 1)"),
        ({"beta": 0.05}, "beta: expected less than the level"),
        ({"beta": 0.025}, "beta: expected less than the level 0.025"),
        ({"K": 0}, "K: expected a whole number from 1"),
        ({"arm": "²"}, "arm: expected a number from 0 to 1"),
        ({"arm": [0]}, "arm: expected a number from 0 to 1"),
        ({"arm": "best"}, "arm: expected a number from 0 to 1, most-pulled, least-pulled"),
        ({"arm": "2"}, "arm: expected a number from 0 to 1"),
        ({"arm": "3"}, "arm: expected a number from 0 to 1"),
    ],
)
def test_bad_arguments_are_named(history, argument, message):
    with pytest.raises(PrivarmsError) as raised:
        correction.correct(history, **{"epsilon": 1.0, **argument})
    assert message in str(raised.value)
