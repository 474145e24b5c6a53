"""One arm in every round, whatever was seen."""

import numpy as np
import pytest

from privarms.policies.bandit import constant


@pytest.mark.parametrize("arm", [0, 1, 3])
def test_the_arm_that_was_asked_for_is_pulled_whatever_it_earns(arm):
    params, rng = constant.configure(4, arm), np.random.default_rng(1)
    state = constant.init(params)
    for t in range(1, 20):
        assert constant.choose(params, state, np.zeros(1), t, rng) == arm
        state = constant.learn(params, state, np.zeros(1), arm, 0.0, t, rng)
    # No draw is taken from the stream.
    assert rng.random() == np.random.default_rng(1).random()
