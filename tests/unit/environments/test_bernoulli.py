"""Check the means of Bernoulli arms."""

import numpy as np
import pytest

from privarms.environments import bernoulli

# mu1 to mu4 of Azize & Basu 2022.
INSTANCES = {
    "one_best": (0.7, [0.75, 0.7, 0.7, 0.7, 0.7]),
    "linear": (0.25, [0.75, 0.625, 0.5, 0.375, 0.25]),
    "convex": (0.25, [0.75, 0.53125, 0.375, 0.28125, 0.25]),
    "concave": (0.25, [0.75, 0.71875, 0.625, 0.46875, 0.25]),
}


@pytest.mark.parametrize("spacing", INSTANCES)
def test_the_instances_of_the_literature_to_the_last_bit(spacing):
    bottom, means = INSTANCES[spacing]
    assert bernoulli.configure(5, 0.75, bottom, spacing).means.tolist() == means


def test_the_best_arm_may_have_another_number():
    assert bernoulli.configure(3, 1.0, 0.0, rotate=1).means.tolist() == [0.0, 1.0, 0.5]
    with pytest.raises(ValueError, match="rotate: expected 0 to 2; found 3"):
        bernoulli.configure(3, 1.0, 0.0, rotate=3)


def test_arms_may_have_any_means():
    assert bernoulli.configure(3, 0.9, 0.1, arm_means="0.5 0.9 0.1").means.tolist() == [0.5, 0.9, 0.1]
    for K, top in ((2, 0.9), (3, 0.8)):
        with pytest.raises(ValueError, match=f"arm_means: expected {K} numbers from 0.1 to {top}"):
            bernoulli.configure(K, top, 0.1, arm_means="0.5 0.9 0.1")


def test_a_reward_is_one_with_the_arm_s_probability():
    environment = bernoulli.configure(2, 1.0, 0.0)
    rng = np.random.default_rng(1)
    assert [environment.pull(environment, arm, rng) for arm in (0, 1)] == [1.0, 0.0]
