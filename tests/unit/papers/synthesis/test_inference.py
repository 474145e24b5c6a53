"""Check the audit results of the compared policies."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from privarms.papers.synthesis import inference


def test_audits_by_policy_and_variant():
    names = ["cell", "policy", "variant", "epsilon"]
    some = [("a", "dp_se", None, 1.0), ("b", "private_ucb", "as_printed", 1.0), ("c", "ucb1", None, np.nan)]
    cells = pd.DataFrame(some, columns=names)
    names = ["subject", "variant", "claimed_epsilon", "exact", "lower_bound", "trials"]
    some = [("dp_se", None, 0.5, 0.5, 0.4, 10), ("dp_se", None, 1.0, 0.9, 0.85, 20)]
    some += [("private_ucb", "as_released", 1.0, 8.0, 7.0, 10), ("private_ucb", "as_printed", 1.0, *[np.nan] * 3)]
    audits = pd.DataFrame(some, columns=names)
    results = SimpleNamespace(cells=lambda name: cells, audit=lambda: audits)
    rows = inference.privacy(results).set_index("policy")
    # For each policy: the largest loss over claim of two settings, no other variant, and no audit that was not run.
    assert rows.loc["dp_se", ["audited", "exact", "lower_bound"]].tolist() == [2, 1.0, 0.85]
    assert rows.loc["private_ucb", "audited"] == 0
    assert np.isnan(rows.loc["private_ucb", "exact"])
