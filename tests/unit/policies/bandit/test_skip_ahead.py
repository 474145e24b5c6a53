"""The bounds under which the leader is pulled without comparing the arms."""

import numpy as np
import pytest
from privarms.policies.bandit._skip_ahead import Rival, _bound, _compare, _lead, _note_regret, _pull_block, _slack

from privarms.mechanisms.tree import new_tree
from privarms.mechanisms.tree_guard import new_guard
from privarms.policies.bandit import _skip_ahead


def test_the_leader_and_the_bound_of_the_others():
    centres, radii = np.array([0.2, 0.9, 0.9, 0.1]), np.sqrt(2 / np.array([10.0, 50.0, 50.0, 12.0]))
    leader, rival = _compare(centres, radii, 30)
    indices = centres + radii * np.sqrt(np.log(30))
    # The first of equals.
    assert leader == 1
    assert rival.start == 30
    assert rival.height == pytest.approx(np.sort(indices)[-2])
    assert rival.root == pytest.approx(np.sqrt(np.log(30)))


def test_the_bound_holds_for_all_rounds_to_come():
    rng = np.random.default_rng(1)
    for _ in range(200):
        centres, radii = rng.random(4) * 10, np.sqrt(2 / rng.integers(1, 1000, 4))
        start = int(rng.integers(5, 10_000))
        leader, rival = _compare(centres, radii, start)
        others = np.arange(4) != leader
        for t in (start, start + 1, start + 7, 2 * start, 100 * start):
            highest = (centres + radii * np.sqrt(np.log(t)))[others].max()
            assert _bound(rival, t) > highest
            # And it is no idle one at first.
            assert t > start + 1 or _bound(rival, t) < highest + 0.2


def test_the_lead_is_what_the_sum_can_do_without():
    width, rival = np.array([9.0, 3.0, 5.0, 9.0, 9.0]), Rival(50, 2.0, 0.001, 1.9)
    # 6 = 110b: two nodes.
    lead = _lead(width, rival, 60, 6, 4.0, 7.0)
    assert (4.0 + 7.0 + 5.0 - lead) / 6 + 1.9 * np.sqrt(2 / 6) == pytest.approx(2.01, rel=1e-10)


@pytest.mark.parametrize("height", [-3.0, 0.1, 0.8, 40.0])
def test_with_the_slack_used_up_the_leader_still_leads_at_every_count(height):
    rng = np.random.default_rng(2)
    for _ in range(100):
        n = int(rng.integers(1, 3000))
        last = n + int(rng.integers(1, 4000))
        t, seen = last + int(rng.integers(5, 1000)), float(rng.integers(0, n + 1))
        rival = Rival(t - (last - n), height, rng.random() * 1e-3, np.sqrt(np.log(t - (last - n))))
        slack = _slack(rival, t, n, last, seen)
        counts = np.arange(n + 1, last + 1)
        indices = (seen - slack) / counts + rival.root * np.sqrt(2 / counts)
        rounds = t - last + counts
        ahead = indices - (rival.height + rival.slope * (rounds - rival.start))
        assert (ahead > -1e-9).all()
        # With a positive mean the last count is the tight one.
        if height >= 40:
            assert ahead[-1] == pytest.approx(0, abs=1e-6)


def test_blocks_do_not_outlast_the_rounds_and_pull_once_at_least():
    tree, width = new_tree(2, 10), np.full(12, 1e6)
    rival = Rival(10, 0.5, 0.0, 1.5)
    for node_scale in (0.0, 0.01):
        guard = new_guard(node_scale)
        for lead, rounds in ((1e9, 1), (1e9, 7), (0.0, 1), (-5.0, 3)):
            pulls, _ = _pull_block(guard, width, rival, tree, 1, 10, 4, 2.0, lead, rounds, np.random.default_rng(3))
            assert 1 <= pulls <= rounds
            assert pulls == (rounds if lead > 0 else 1)


def test_the_guard_is_given_the_floor_of_the_whole_block(monkeypatch):
    # In plain Python, where what stands in for the guard is asked.
    asked = []

    def refuse(guard, tree, arm, n, slack, least_width, longest):
        asked.append((slack, longest))
        return 0, 1.0

    monkeypatch.setattr(_skip_ahead, "safe_block", refuse)
    guard, tree, rng = new_guard(1.0), new_tree(1, 12), np.random.default_rng(4)
    for n, seen, lead in ((100, 60.0, 80.0), (64, 10.0, 500.0), (777, 500.0, 21.0)):
        rival = Rival(900, 0.7, 0.0, 2.0)
        _pull_block.py_func(guard, np.zeros(14), rival, tree, 0, 1000, n, seen, lead, 10**6, rng)
        slack, e = asked.pop()
        assert e >= 2
        counts = np.arange(n + 1, (n // 2**e + 1) * 2**e)
        assert slack == pytest.approx((seen - counts * (0.7 - 2.0 * np.sqrt(2 / counts))).min(), rel=1e-9)
        # The bound grows until the last round of the block, that of the last count.
        rival = Rival(900, 0.7, 0.01, 2.0)
        _pull_block.py_func(guard, np.zeros(14), rival, tree, 0, 1000, n, seen, lead, 10**6, rng)
        slack, e = asked.pop()
        last = (n // 2**e + 1) * 2**e - 1
        bound = 0.7 + 0.01 * (1000 + last - n - 900)
        assert slack == pytest.approx(seen - last * (bound - 2.0 * np.sqrt(2 / last)), rel=1e-9)


def test_the_regret_is_noted_at_the_checkpoints_of_a_block():
    regret, checkpoints = np.zeros(5), np.array([2, 10, 13, 20, 21])
    # Rounds 10 to 20, after a regret of 3, at a gap of 0.5 each.
    assert _note_regret(regret, checkpoints, 1, 9, 11, 3.0, 0.5) == 4
    assert list(regret) == [0, 3.5, 5.0, 8.5, 0]
