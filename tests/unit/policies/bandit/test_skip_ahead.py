"""Check the bounds under which DP-UCB's fast path pulls the leader without comparing the arms."""

import numpy as np
import pytest

from privarms.fast_paths.bandit import _skip_ahead
from privarms.fast_paths.bandit._skip_ahead import Rival, _bound, _compare, _lead, _slack
from privarms.fast_paths.bandit._tree_guard import new_guard
from privarms.mechanisms.tree import new_tree


def test_the_bound_holds_for_all_rounds_to_come():
    rng = np.random.default_rng(1)
    for _ in range(200):
        centres, radii = rng.random(4) * 10, np.sqrt(2 / rng.integers(1, 1000, 4))
        start = int(rng.integers(5, 10_000))
        leader, rival = _compare(centres, radii, start, rng)
        others = np.arange(4) != leader
        for t in (start, start + 1, start + 7, 2 * start, 100 * start):
            highest = (centres + radii * np.sqrt(np.log(t)))[others].max()
            assert _bound(rival, t) > highest
            # The bound is not trivial at first.
            assert t > start + 1 or _bound(rival, t) < highest + 0.2


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
        # With a positive mean the bound is tight at the last count.
        if height >= 40:
            assert ahead[-1] == pytest.approx(0, abs=1e-6)


def test_the_floor_of_a_block_s_noise_holds_for_all_its_counts(monkeypatch):
    slacks = []

    def never_misses(guard, tree, arm, n, slack, least_width, longest):
        slacks.append(slack)
        return longest, 1.0

    monkeypatch.setattr(_skip_ahead, "safe_block", never_misses)
    rng, none = np.random.default_rng(3), np.zeros(20)
    longest = 0
    for _ in range(100):
        n = int(rng.integers(1, 64)) << int(rng.integers(0, 8))
        t, seen = n + int(rng.integers(5, 5000)), n * rng.random()
        rival = Rival(t, seen / n - rng.random(), rng.random() * 1e-3, np.sqrt(np.log(t)))
        lead = _lead(none, rival, t, n, seen, 0.0)
        block = (new_guard(0.1), none, rival, new_tree(1, 18), 0, t, n, seen, lead, 2000, rng)
        slacks.clear()
        pulls, _ = _skip_ahead._pull_block.py_func(*block)
        longest = max(longest, pulls)
        # Without a slack it pulls once.
        for count in range(n + 1, n + pulls):
            true = _lead(none, rival, t + count - n, count, seen, 0.0)
            assert true > slacks[0] - 1e-9 * abs(true) - 1e-9
    assert longest > 100
