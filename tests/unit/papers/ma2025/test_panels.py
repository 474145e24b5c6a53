"""Check Figures 7 to 9 of Ma et al. (2025): every published cell and every log of the authors has our cell."""

import numpy as np
import pandas as pd
import pytest

from privarms.inference.transfer_rates import regret_rate
from privarms.papers.ma2025 import _panels as panels

from .made_up import made_up


@pytest.fixture(scope="module")
def at_paper_scale(tmp_path_factory):
    return made_up(tmp_path_factory.mktemp("paper"))


def fingerprint(epsilon, epsilon_aux, gamma, kappa, n, n_aux, batch, older):
    """Return values that identify a cell; epsilon_aux is a text with the sources in order."""
    aux = sum(float(e) * 10**i for i, e in enumerate(epsilon_aux.split(), 1)) if n_aux else 0
    rest = (gamma + 100 * kappa) if n_aux else 0
    return n + n_aux / 7 + 1e6 * epsilon + 1e-3 * aux + 1e-6 * rest + 1e9 * batch + 1e12 * older


def test_every_log_stands_beside_the_cell_of_its_own_setting(tmp_path):
    def of_cell(cell):
        p = cell.parameters
        older = p.get("deviation") == "logarithm offset"
        setting = p["epsilon"], str(p["epsilon_aux"]), p["gamma"], p["kappa"], cell.horizon, p["n_aux"]
        return fingerprint(*setting, p.get("batch", 0), older)

    actual = panels.agreement(made_up(tmp_path, of_cell))
    orders = {"low_first(2,8)": "2 8", "high_first(8,2)": "8 2"}
    for row in actual.itertuples():
        aux = orders.get(row.order, row.epsilon_aux)
        # In the program batches have 500 users in Figures 8 and 9(c), else 100. Figure 7(a) has the older constants.
        batch = 500 if row.figure[:4] == "fig8" or row.figure == "fig9c" else 100
        setting = row.epsilon, aux, row.gamma, row.kappa, row.n, row.n_aux, batch, row.figure == "fig7a"
        assert row.ours == fingerprint(*setting), row


def test_every_log_has_a_cell_of_ours(at_paper_scale):
    actual = panels.agreement(at_paper_scale)
    assert len(actual) == 450
    assert actual["ours"].notna().all()
    # The authors made at most 50 runs.
    assert (actual["ours_replicates"] >= 50).all()
    # (100 - theirs) / sqrt(1 + theirs^2), by hand for the first: 30 runs of mean 3878.807, standard error 38.667.
    assert actual["z"][0] == pytest.approx((100 - 3878.807) / (1 + 38.667**2) ** 0.5)


def test_figure_7a_as_released_has_the_older_constants(tmp_path):
    older = made_up(tmp_path, lambda cell: 1.0 if cell.parameters.get("deviation") == "logarithm offset" else 2.0)
    rows = panels.written(panels.panel(older, "fig7a"))
    assert set(rows.loc[rows["variant"] == "as_released", "mean_regret"]) == {1.0}
    assert set(rows.loc[rows["variant"] == "as_released_current", "mean_regret"]) == {2.0}
    for figure in panels.FIGURES[1:]:
        assert set(panels.panel(older, figure)["mean_regret"]) == {2.0}


def test_rates_by_hand():
    # n eps^2 / (K^2 ln n) = 10,000 / (4 ln 10,000) against (n / (K ln n))^(6/4): the private term decides.
    n, log = 10_000, np.log(10_000)
    assert regret_rate(n, 1, 2, 2) == pytest.approx(n * (n / (4 * log)) ** (-1 / 3))
    # Without privacy: n^(1 - 2/4) up to logarithms.
    assert regret_rate(n, 1e6, 2, 2) == pytest.approx(n * (n / (2 * log)) ** (-1 / 2))
    # A source equal to the target adds its users. The logarithm is that of the larger set.
    assert regret_rate(n, 1, 2, 2, sources=[(n, 1, 0, 1)]) == pytest.approx(n * (2 * n / (4 * log)) ** (-1 / 3))
    # kappa counts twice in the private term, and gamma = 3 halves its exponent.
    term = (0.25 * n / (4 * log)) ** 0.5
    assert regret_rate(n, 1, 2, 2, sources=[(n, 1, 3, 0.5)]) == pytest.approx(n * (n / (4 * log) + term) ** (-1 / 3))
    for wrong in ({"epsilon": 0}, {"beta": 3.0}, {"sources": [(10, 1, -1, 1)]}, {"sources": [(10, 1, 0, 1.5)]}):
        with pytest.raises(ValueError, match="expected"):
            regret_rate(**{"n": n, "epsilon": 1, "K": 2, "d": 2, **wrong})


def test_a_changed_parameter_is_in_the_name_even_if_all_cells_of_the_algorithm_have_it():
    shared = {"policy": "ldp_mab", "variant": "as_printed", "environment": "exponential", "K": 3, "horizon": 100}
    shared |= {"t": 100, "epsilon": 1.0, "replicates": 5, "regret_mean": 1.0, "regret_se": 0.1}
    cells = pd.DataFrame([shared | {"c": c, "dimensions": d} for c, d in ((2.0, 2), (8.0, 3), (64.0, np.nan))])
    # Two dimensions are the default.
    assert panels.named(cells)["also"].tolist() == ["", "dimensions=3", ""]
