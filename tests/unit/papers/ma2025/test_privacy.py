"""The audit of the locally private bandit: its inference table from made-up counts."""

import itertools
import math
from types import SimpleNamespace

import pandas as pd
import pytest

from privarms.papers.ma2025.inference import privacy


def counts():
    """Blocks of two shards: 40 trials with each user; the likelier user's event always, the other's in 1 of 10."""
    rows = []
    for variant, (differ, event, batch), epsilon, user in itertools.product(
        ("as_printed", "as_released"),
        (
            ("context", "quadrant", 1),
            ("arm", "quadrant", 1),
            ("context", "untouched", 1),
            ("context", "untouched", 100),
        ),
        (1.0, 2.0),
        (0, 1),
    ):
        events = 10 if user == (event == "quadrant") else 1
        setting = {"variant": variant, "differ": differ, "event": event, "batch": batch, "epsilon": epsilon}
        setting |= {"policy": "ldp_mab", "K": 2, "M": 0, "horizon": 10_000}
        rows += [{**setting, "neighbour": user, "trials": 10, "events": events} for _ in range(4)]
    return pd.DataFrame(rows)


def test_the_bound_sets_the_likelier_user_over_the_other():
    found = privacy(SimpleNamespace(replicates=lambda study: counts()))
    assert len(found) == 16
    assert (found["trials"] == 40).all()
    assert (found["likelier"] == 40).all()
    assert (found["other"] == 4).all()
    # 40 of 40 and 4 of 40 either way round.
    assert found["lower_bound"].nunique() == 1
    assert 0.5 < found["lower_bound"].iloc[0] < math.log(10)
    exact = found.set_index(["variant", "differ", "event", "batch", "epsilon"])["exact"]
    assert exact["as_printed", "context", "quadrant", 1, 2.0] == pytest.approx(2)
    assert exact["as_released", "arm", "quadrant", 1, 1.0] == pytest.approx(1)
    assert exact["as_released", "context", "untouched", 100, 1.0] == math.inf
    assert math.isnan(exact["as_printed", "context", "untouched", 1, 1.0])
