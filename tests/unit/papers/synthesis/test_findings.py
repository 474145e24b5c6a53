"""The verdicts of the synthesis follow from the numbers."""

import numpy as np
import pandas as pd

from privarms.papers.synthesis import _central_findings, _findings, _local_findings
from tests.unit.papers.synthesis import tables_by_hand as by_hand


def central(runs=None, privacy=None, **errors):
    runs = by_hand.runs() if runs is None else runs
    privacy = by_hand.privacy() if privacy is None else privacy
    return _findings.table(_central_findings.central(runs, by_hand.tests(runs, **errors), privacy))


def one(found, words):
    (row,) = found[found["statement"].str.contains(words, regex=False)].to_dict("records")
    return row


def test_the_level_of_a_test():
    naive = one(central(), "chosen test is at most 5%: naive")
    assert naive["verdict"] == "does not hold"
    assert (naive["holds_in"], naive["fails_in"], naive["open_in"]) == (0, 10, 0)
    valid = one(central(naive=5), "chosen test is at most 5%: naive")
    assert valid["verdict"] == "holds"
    between = one(central(naive=50), "chosen test is at most 5%: naive")
    assert between["verdict"] == "not decided"


def test_the_price_of_privacy():
    row = one(central(), "privacy costs at most a factor of two")
    assert row["verdict"] == "holds"
    dear = one(central(by_hand.runs(dp_imed=180)), "privacy costs at most a factor of two")
    assert dear["verdict"] == "does not hold"


def test_theorem_1():
    assert one(central(), "Theorem 1")["verdict"] == "holds"
    over = by_hand.runs()
    over.loc[over["policy"] == "dp_imed", "over_theorem"] = 1.2
    found = one(central(over), "Theorem 1")
    assert found["verdict"] == "does not hold"
    # Of all arms: one that is known badly decides nothing.
    vague = by_hand.runs()
    vague.loc[vague["policy"] == "dp_imed", "over_theorem_se_most"] = 1.0
    assert one(central(vague), "Theorem 1")["verdict"] == "not decided"
    # A policy that breaks its promise is no counterexample.
    over = by_hand.runs()
    over.loc[over["policy"] == "private_ucb", "over_theorem"] = 1.2
    assert one(central(over), "Theorem 1")["verdict"] == "holds"


def test_who_is_to_be_taken_everywhere():
    assert one(central(), "everywhere")["verdict"] == "holds"
    two = pd.concat([by_hand.runs(), by_hand.runs(dp_imed=300).assign(horizon=10_000)], ignore_index=True)
    found = one(central(two), "everywhere")
    assert found["verdict"] == "does not hold"


def test_audits():
    row = one(central(), "gives away more")
    assert row["verdict"] == "does not hold"
    rounded = by_hand.privacy(private_ucb=1 + 1e-12)
    assert one(central(privacy=rounded), "gives away more")["verdict"] == "holds"
    clean = by_hand.privacy(private_ucb=0.5)
    assert one(central(privacy=clean), "gives away more")["verdict"] == "holds"
    missing = by_hand.privacy(private_ucb=0.5, dp_se=np.nan)
    assert one(central(privacy=missing), "gives away more")["verdict"] == "not decided"


def local(**own):
    """Cells of a locally private policy as released, with and without noise from every user, and of data."""
    rows = []
    for deviation, regret, in_parts in ((None, 100.0, 0.8), ("noise", 150.0, 0.0)):
        rows.append(
            {
                **{"policy": "ldp_mab", "variant": "as_released", "deviation": deviation, "instance": "exponential"},
                **{"horizon": 1_000, "epsilon": 1.0, "replicates": 100, "regret": regret, "regret_se": 1.0},
                **{"curve": f"LDPMAB{' with noise' if deviation else ''}", "of_uniform": regret / 400},
                **{"of_uniform_se": 0.0025, "reward": 500.0, "reward_se": 1.0, "missed": 0.2, "missed_se": 0.001},
                **{"removals": 5.0, "lost": 0.3, "lost_se": 0.01, "wrong": 0.4, "in_parts": in_parts},
                **{"in_parts_se": 0.001 if in_parts else 0.0, "alone": 0.01},
            }
        )
    for policy, reward, epsilon in (("constant", 700.0, np.nan), ("ldp_linear", 650.0, 1.0)):
        data = {"policy": policy, "curve": policy, "instance": "adult", "horizon": 1_000, "epsilon": epsilon}
        rows.append({**data, "replicates": 100, "reward": reward, "reward_se": 1.0})
    return pd.DataFrame(rows).assign(**own)


def test_local_privacy():
    found = _findings.table(_local_findings.local(local()))
    assert one(found, "halves the regret")["verdict"] == "holds"
    assert one(found, "than its radius in at most 5% of looks: LDPMAB with noise")["verdict"] == "does not hold"
    assert one(found, "names a part of the cube without noise: LDPMAB with noise")["verdict"] == "holds"
    named = found[found["statement"].str.endswith("without noise: LDPMAB.")].iloc[0]
    assert named["verdict"] == "does not hold"
    rich = local()
    rich.loc[rich["policy"] == "ldp_linear", "reward"] = 800.0
    assert one(_findings.table(_local_findings.local(rich)), "earns more")["verdict"] == "holds"
