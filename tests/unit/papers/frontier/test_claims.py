"""Check the measures of frontier's claims on handmade tables, each also with the opposite outcome."""

import math

import pytest

from privarms.studies import library

from .tables_by_hand import results

MEASURES = library.paper_functions("frontier", "measures")
BASE = {"instance": "mu2", "epsilon": 1.0, "horizon": 1000, "width": None, "se": 1.0, "replicates": 1000}
BASE |= {"curve": "a curve"}


def row(policy, regret, **own):
    return BASE | {"policy": policy, "regret": float(regret), "over_bound": regret / 50, "over_bound_se": 0.02} | own


def test_theorem_7():
    # Gaps .125 to .5, epsilon 1: 16 * 3.1 ln(1000) (8 + 4 + 8/3 + 2) + 4 * 31
    bound = 49.6 * math.log(1000) * (8 + 4 + 8 / 3 + 2) + 124
    assert MEASURES["regret_over_theorem_7"](results(regret=[row("adap_ucb", 100)])).value == pytest.approx(100 / bound)
    assert MEASURES["regret_over_theorem_7"](results(regret=[row("adap_ucb", 2 * bound)])).value == pytest.approx(2)


def test_settings_won():
    won = [row("dp_imed", 10), row("dp_se", 90), row("adap_klucb", 50)]
    lost = [row("dp_imed", 99, epsilon=0.1), row("dp_se", 90, epsilon=0.1), row("adap_klucb", 200, epsilon=0.1)]
    open_ = [row("dp_imed", 49, epsilon=0.5), row("dp_se", 90, epsilon=0.5), row("adap_klucb", 50, epsilon=0.5)]
    measure = MEASURES["settings_won"]
    both = measure(results(regret=won + lost), "dp_imed", ["dp_se", "adap_klucb"])
    assert (both.value, both.low, both.high) == (0.5, 0.5, 0.5)
    unsure = measure(results(regret=won + open_), "dp_imed", ["dp_se", "adap_klucb"])
    assert (unsure.value, unsure.low, unsure.high) == (1, 0.5, 1)


def test_the_bound_is_larger():
    rows = [{"instance": "mu2", "epsilon": e, "over_older": ratio} for e, ratio in ((0.1, 2.0), (5, 1.0), (5, None))]
    actual = MEASURES["bound_is_larger"](results(bounds=rows))
    assert (actual.value, actual.note) == (0.5, "Equal, because d_epsilon is kl there, on mu2 at 5.")
