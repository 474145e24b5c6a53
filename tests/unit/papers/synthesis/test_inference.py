"""Check the audit results of the compared policies."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from privarms.papers.synthesis import inference


def test_audits_by_policy_and_variant():
    cells = pd.DataFrame(
        {
            "cell": ["a", "b", "c"],
            "policy": ["dp_se", "private_ucb", "ucb1"],
            "variant": [None, "as_printed", None],
            "environment": "bernoulli",
            "horizon": 100,
            "K": 2,
            "top": 0.6,
            "bottom": 0.4,
            "epsilon": [1.0, 1.0, np.nan],
            "panels": "mu",
            "replicates": 4,
        }
    )
    audits = pd.DataFrame(
        {
            "subject": ["dp_se", "dp_se", "private_ucb", "private_ucb"],
            "variant": [None, None, "as_released", "as_printed"],
            "claimed_epsilon": [0.5, 1.0, 1.0, 1.0],
            "exact": [0.5, 0.9, 8.0, np.nan],
            "lower_bound": [0.4, 0.85, 7.0, np.nan],
            "trials": [10, 20, 10, np.nan],
            "confidence": 0.999,
        }
    )
    results = SimpleNamespace(cells=lambda name: cells, audit=lambda: audits)
    rows = inference.privacy(results).set_index("policy")
    # For each policy: the largest loss over claim of two settings, no other variant, and no audit that was not run.
    assert rows.loc["dp_se", ["audited", "exact", "lower_bound", "trials"]].tolist() == [2, 1.0, 0.85, 30]
    assert rows.loc["private_ucb", "audited"] == 0
    assert np.isnan(rows.loc["private_ucb", "exact"])
    assert rows["claims"].tolist() == [True, True, False]
