"""Check the rates (5) and (22) of Ma et al. (2025) at settings where each term can be written down."""

import math

import pytest

from privarms.inference.transfer_rates import regret_rate

# In one dimension with beta = 1 the outer exponent is -1/2, and the inner one of target users is 4/3.
L = math.log(10_000)


def test_a_small_budget_decides_the_rate_without_sources():
    assert regret_rate(10_000, 0.5, 2, 1) == pytest.approx(10_000 / math.sqrt(2_500 / (4 * L)))
    # d = 2 and beta = 1/2: the outer exponent is -1/4.
    assert regret_rate(10_000, 0.5, 2, 2, 0.5) == pytest.approx(10_000 / (2_500 / (4 * L)) ** 0.25)


def test_a_large_budget_gives_the_rate_without_privacy():
    assert regret_rate(10_000, 1000.0, 2, 1) == pytest.approx(10_000 * (5_000 / L) ** (-2 / 3))


def test_sources_add_their_private_or_their_plain_term():
    # ln(n) is that of the largest sample. With gamma = 1 the inner exponents are 4/6 and 4/4.
    log = math.log(40_000)
    target, private, plain = 2_500 / (4 * log), (10_000 / log) ** (2 / 3), 10_000 / log
    of_sources = {
        (40_000, 2.0, 1.0, 0.5): private,  # kappa^2 n_Q epsilon^2 / K^2 = 10,000
        (40_000, 100.0, 1.0, 0.5): plain,  # kappa n_Q / K = 10,000
    }
    for source, term in of_sources.items():
        assert regret_rate(10_000, 0.5, 2, 1, 1.0, [source]) == pytest.approx(10_000 / math.sqrt(target + term))
    both = regret_rate(10_000, 0.5, 2, 1, 1.0, [*of_sources])
    assert both == pytest.approx(10_000 / math.sqrt(target + private + plain))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((1, 1.0, 2, 1), "n"),
        ((100, 1.0, 1, 1), "K"),
        ((100, 1.0, 2, 0), "d"),
        ((100, 0.0, 2, 1), "epsilon"),
        ((100, 1.0, 2, 1, 0.0), "beta"),
        ((100, 1.0, 2, 1, 1.5), "beta"),
        ((100, 1.0, 2, 1, 1.0, [(-1, 1.0, 0.0, 1.0)]), "n_Q"),
        ((100, 1.0, 2, 1, 1.0, [(10, 0.0, 0.0, 1.0)]), "epsilon_m"),
        ((100, 1.0, 2, 1, 1.0, [(10, 1.0, -0.1, 1.0)]), "gamma"),
        ((100, 1.0, 2, 1, 1.0, [(10, 1.0, 0.0, 1.1)]), "kappa"),
        ((100, 1.0, 2, 1, 1.0, [(10, 1.0, 0.0, -0.1)]), "kappa"),
    ],
)
def test_values_out_of_range_are_refused_by_name(arguments, name):
    with pytest.raises(ValueError, match=rf"^(expected )?{name}\b"):
        regret_rate(*arguments)
