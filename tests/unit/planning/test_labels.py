"""Check that every policy and setting has one curve."""

import pandas as pd
import pytest

from privarms.planning.labels import labels as labels_of


def cells(*rows):
    columns = {"environment": "bernoulli", "variant": None, "top": 0.75}
    return pd.DataFrame([columns | {"cell": f"c{i}"} | row for i, row in enumerate(rows)])


@pytest.mark.parametrize(
    ("rows", "over", "labels"),
    [
        (
            [
                *({"policy": "dp_se", "epsilon": epsilon} for epsilon in (0.1, 1.0)),
                *({"policy": "dp_ucb", "epsilon": 0.1, "width": width} for width in ("log2.5", "chan")),
                {"policy": "ucb1"},
            ],
            ("epsilon",),
            ["DP-SE", "DP-SE", "DP-UCB (log^2.5)", "DP-UCB (chan)", "UCB1"],
        ),
        # A setting that only some cells have distinguishes curves.
        (
            [{"policy": "dp_se", "K": 5}, {"policy": "dp_se", "K": 5, "beta": 0.05}, {"policy": "dp_se", "K": 50_000}],
            (),
            ["DP-SE (K = 5)", "DP-SE (K = 5, beta = 0.05)", "DP-SE (K = 50000)"],
        ),
        (
            [
                *({"policy": "dp_se", "variant": variant} for variant in ("as_printed", "as_released")),
                *({"policy": "ucb1", "top": top} for top in (0.75, 0.9)),
            ],
            (),
            ["DP-SE (as printed)", "DP-SE (as released)", "UCB1 (top = 0.75)", "UCB1 (top = 0.9)"],
        ),
        (
            [{"policy": "dp_se", "K": 5, "epsilon": 0.1}, {"policy": "dp_se", "K": 7, "epsilon": 1.0}],
            ("K",),
            ["DP-SE (epsilon = 0.1)", "DP-SE (epsilon = 1)"],
        ),
    ],
)
def test_a_curve_is_named_by_its_policy_and_what_tells_it_apart(rows, over, labels):
    assert list(labels_of(cells(*rows), over)) == labels
