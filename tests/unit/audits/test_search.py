"""Check the search for a pair of inputs and an event on made-up runs whose law is known."""

import numpy as np
import pytest

from privarms.audits.search import candidates, described, rounds_per_trial, score, search

ROUNDS, TRIALS = 12, 8_000


def coins(rng, choices):
    choices[:] = rng.integers(0, 2, choices.shape)


def last(rng, choices):
    """Choose arm 1 in the last round with probability 0.9 instead of 0.5."""
    coins(rng, choices)
    choices[:, -1] = rng.random(len(choices)) < 0.9


def often(rng, choices):
    """Choose arm 1 in 11 of 12 rounds with probability 0.5, so that each round alone shows little."""
    coins(rng, choices)
    (those,) = np.nonzero(rng.random(len(choices)) < 0.5)
    choices[those] = 1
    choices[those, rng.integers(0, ROUNDS, len(those))] = 0


def copies(rng, choices):
    """Repeat the choice before with probability 0.8; each round alone shows nothing."""
    coins(rng, choices)
    for t in range(1, ROUNDS):
        repeated = rng.random(len(choices)) < 0.8
        choices[repeated, t] = choices[repeated, t - 1]


def searched(*groups):
    rng = np.random.default_rng(1)
    return search(groups, lambda law, choices: law(rng, choices), ROUNDS, 2, TRIALS)


def rates(found, runs=4_000):
    """Return how often the event happens in fresh runs with each of the two selected inputs."""
    rng, shares = np.random.default_rng(2), []
    for law in found.inputs:
        choices = np.zeros((runs, ROUNDS), np.int64)
        law(rng, choices)
        shares.append(np.mean([score(found.event, one) >= found.event.threshold for one in choices]))
    return shares


def test_one_choice_that_differs_is_found_among_many_pairs_that_do_not():
    found = searched(*[[coins, coins, coins]] * 20, [coins, coins, last], [coins, coins])
    # Not arm 1 in the last round: 0.1 against 0.5.
    assert found.inputs == (last, coins)
    assert described(found.event) == f"the choice of round {ROUNDS} is arm 1"
    assert rates(found) == pytest.approx([0.1, 0.5], abs=0.05)


def test_a_number_of_pulls_that_differs_is_found():
    found = searched([coins, often])
    unlikely, likely = rates(found)
    # P(at least 11 of 12 coins) = 13 / 4096.
    assert likely > 0.4
    assert unlikely < 0.02


def test_a_dependence_between_choices_is_found():
    unlikely, likely = rates(searched([coins, copies]))
    assert likely > 5 * unlikely > 0


@pytest.mark.parametrize("trials", [1, 500, 4_000])
def test_a_search_among_many_pairs_takes_as_many_rounds_as_it_says(trials):
    runs = []

    def counted(law, choices):
        runs.append(len(choices))
        coins(np.random.default_rng(len(runs)), choices)

    search([[coins] * 51] * 60, counted, ROUNDS, 2, trials)
    # Even one trial needs some runs to select by.
    assert sum(runs) * ROUNDS <= rounds_per_trial(ROUNDS) * max(trials, 50)


def test_a_difference_within_delta_counts_as_none():
    rng = np.random.default_rng(3)
    one, other = np.zeros((2, 2_000, 1), np.int64)
    other[:] = rng.random((2_000, 1)) < 0.1
    margins = {d: max(m for _, m in candidates(one, other, 2, d)) for d in (0.0, 0.2)}
    assert margins[0.2] < 0.1 < 1 < margins[0.0]


def test_events_have_words():
    rng = np.random.default_rng(4)
    runs = np.zeros((2, 400, ROUNDS), np.int64)
    coins(rng, runs[0])
    often(rng, runs[1])
    words = [described(event) for event, _ in candidates(*runs, 2)]
    assert any(word.startswith("the choice of round") for word in words)
    assert any("is chosen at least" in word for word in words)
    assert any("is chosen at most" in word for word in words)
    assert any(word.startswith("a score of 12 choices, whose largest weights are in the rounds ") for word in words)
