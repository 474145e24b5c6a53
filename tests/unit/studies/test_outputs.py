"""What readers are told of a study."""

from privarms.studies.cells import expand
from privarms.studies.outputs import _settings

STUDY = {
    "protocol": "bandit",
    "environment": {"name": "bernoulli", "top": 0.75, "bottom": 0.25},
    "horizon": 20_000,
    "replicates": 10,
    "block": 5,
    "seconds_per_step": 1e-4,
    "grid": {"K": [2, 5], "epsilon": [0.1, 1]},
    "policies": [{"policy": "dp_se"}, {"policy": "ucb1"}],
}


def test_a_study_s_settings_are_said_in_words_with_its_time():
    found = dict(_settings(expand("p.yaml", "p", "s", STUDY)))
    assert found["policies"] == "DP-SE, UCB1"
    assert (found["horizon T"], found["runs a setting"], found["arms K"]) == ("20,000", "10", "2, 5")
    assert found["epsilon"] == "0.1, 1"
    # Four cells of DP-SE and two of UCB1, ten runs of 2 s each.
    assert found["time"] == "about 2 minutes on one core, by estimate"
    assert _settings([]) == []
