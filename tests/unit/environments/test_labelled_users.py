"""Check labelled rows as users of a target and its sources: selection, order, and rewards of arms."""

import numpy as np
import pytest

from privarms.environments import labelled_users


def users(environment, source, n):
    """Return contexts, labels and rewards of arm 1 of the source's first users."""
    contexts = np.zeros((n, environment.dimensions))
    for user in range(n):
        environment.arrive(environment, source, user, contexts[user], None)
    labels = [environment.best(environment, source, user, contexts[user]) for user in range(n)]
    rewards = [environment.mean(environment, source, user, contexts[user], 1) for user in range(n)]
    return contexts, np.array(labels), np.array(rewards)


def rows(contexts, labels):
    return sorted(map(tuple, np.column_stack([contexts, labels]).tolist()))


@pytest.mark.parametrize(("source", "n"), [(0, 60), (1, 5), (2, 3)])
def test_each_source_has_its_own_rows_in_any_order(data, source, n):
    path, frame = data[0], data[1].to_pandas()
    environment = labelled_users.configure(str(path))
    own = frame[frame["source"] == source]
    before = users(environment, source, n)
    assert np.array_equal(before[0], own[["x1", "x2"]])
    assert np.array_equal(before[1], own["label"])
    assert np.array_equal(before[2], own["label"] == 1)
    environment.shuffle(environment, np.random.default_rng(3))
    after = users(environment, source, n)
    assert rows(*after[:2]) == rows(*before[:2])
    assert not np.array_equal(after[0], before[0])


def test_a_shuffle_is_uniform(data):
    environment = labelled_users.configure(str(data[0]))
    rng, n = np.random.default_rng(4), 30_000
    start = environment.starts[2]
    counts = {}
    for _ in range(n):
        environment.shuffle(environment, rng)
        order = tuple(environment.order[start : start + 3])
        counts[order] = counts.get(order, 0) + 1
    # Six orders, each within 5.5 standard errors: false alarms below 1e-6.
    assert len(counts) == 6
    assert np.abs(np.array(list(counts.values())) / n - 1 / 6).max() < 5.5 * np.sqrt(5 / 36 / n)


def test_behaviour_policies_draw_arms_at_random(data):
    environment = labelled_users.configure(str(data[0]))
    rng, n = np.random.default_rng(5), 30_000
    arms = np.bincount([environment.behave(environment, 1, 0, rng) for _ in range(n)], minlength=3)
    assert len(arms) == 3
    assert np.abs(arms / n - 1 / 3).max() < 5.5 * np.sqrt(2 / 9 / n)
