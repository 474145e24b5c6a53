"""The benchmark's count of draws, and its table."""

import numpy as np
import pandas as pd
from numba import njit

from privarms.bench import COLUMNS, Case, bandit, cases, compared, counting, draw_again, measure, shown
from privarms.policies.bandit import dp_ucb


@njit
def some_draws(rng):
    total = 0.0
    for i in range(3):
        total += rng.random() + rng.binomial(10 + i, 0.25)
    return total + rng.standard_exponential() + rng.standard_gamma(2.5) + rng.standard_normal()


def test_a_counting_generator_draws_the_same_and_notes_it():
    generator, draws = counting(np.random.default_rng(1))
    assert some_draws(generator) == some_draws(np.random.default_rng(1))
    assert list(draws.counts) == [3, 1, 1, 3, 1]
    assert list(draws.trials[:4]) == [10, 11, 12, 0]
    assert list(draws.chances[:4]) == [0.25, 0.25, 0.25, 0]
    assert list(draws.shapes[:2]) == [2.5, 0]
    # As many again of the same kinds, in another order.
    again, noted = counting(np.random.default_rng(2))
    draw_again(draws, again)
    assert list(noted.counts) == [3, 1, 1, 3, 1]
    assert list(noted.trials[:3]) == [10, 11, 12]


def test_a_row_a_case():
    @njit
    def spin(n, rng):
        total = 0.0
        for _ in range(n):
            total += rng.random()
        return total

    def run(rng, replicates):
        spin(1000 * replicates, rng)
        return 1000 * replicates

    def run_without_chance(rng, replicates):
        return run(np.random.default_rng(1), replicates)

    table = measure([Case("spin", "n=1000", run, run), Case("still", "", run_without_chance, run)])
    assert tuple(table.columns) == COLUMNS
    assert list(table["kernel"]) == ["spin", "still"]
    assert (table.iloc[0, 2:] > 0).all()
    # Nothing but draws: the variates take all of the time.
    assert 0.2 < table["variates_only_ns_per_step"][0] / table["ns_per_step"][0] < 5
    assert np.isnan(table["variates_only_ns_per_step"][1])


def test_the_cases_name_their_kernels():
    found = [(case.kernel, case.case) for case in cases()]
    assert len(set(found)) == len(found)
    assert {"dp_ucb", "ucb1", "dp_se", "dp_nas", "absse"} <= {kernel for kernel, _ in found}
    case = bandit(dp_ucb, 1000, 100, K=3, epsilon=0.5, width="chan")
    assert case[:2] == ("dp_ucb", "T=1000 K=3 epsilon=0.5 width=chan plain_T=100")
    assert case.run(np.random.default_rng(1), 2) == 2000
    assert case.plain(np.random.default_rng(1), 3) == 300


def test_a_slower_kernel_is_named_whatever_the_machine():
    rows = [("a", "T=1", 10.0, 100.0, 5.0), ("b", "T=1", 10.0, 100.0, np.nan), ("c", "", 10.0, 10.0, 5.0)]
    before = pd.DataFrame(rows, columns=list(COLUMNS))
    # A machine of half the speed, and b, whose fast path lost another half.
    twice = [("a", "T=1", 20.0, 200.0, 10.0), ("b", "T=1", 30.0, 200.0, np.nan), ("c", "", 20.0, 20.0, 10.0)]
    now = pd.DataFrame([*twice, ("new", "", 1.0, 1.0, 1.0)], columns=list(COLUMNS))
    found = compared(now, before).set_index("kernel")
    assert found["times"].tolist()[:3] == [2, 3, 2]
    assert found["in_plain"].tolist()[:3] == [1, 1.5, 1]
    assert found["slower"].to_dict() == {"a": False, "b": True, "c": False, "new": False}
    assert "slower: b (T=1): 3.00 times" in shown(now, before)
    assert "no kernel is 1.3 times slower" in shown(before, before)
    assert "slower" not in shown(before)
