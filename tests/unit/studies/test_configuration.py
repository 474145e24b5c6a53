"""Check that messages about YAML files name the file, the key, the expected and the actual value."""

import copy

import pytest
import yaml

from privarms.errors import PrivarmsError
from privarms.studies import configuration

PAPER = {
    "title": "t",
    "authors": "a",
    "year": 2020,
    "venue": "v",
    "readings": [],
    "studies": {
        "s": {
            "protocol": "bandit",
            "environment": {"name": "bernoulli", "top": 0.75, "bottom": 0.25},
            "horizon": {"paper": 1000, "quick": 10},
            "replicates": {"paper": 30, "quick": 3},
            "block": 1,
            "grid": {"K": 5, "epsilon": [0.1, 1]},
            "policies": [{"policy": "dp_se"}],
        }
    },
}


def written(folder, content):
    file = folder / "p2020/studies.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return file


def changed(content, path, value):
    content = copy.deepcopy(content)
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return content


def test_values_are_resolved_for_the_scale(tmp_path):
    file = written(tmp_path, PAPER)
    assert configuration.load_paper(file, "paper")["studies"]["s"]["horizon"] == 1000
    assert configuration.load_paper(file, "quick")["studies"]["s"]["replicates"] == 3


S = ("studies", "s")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ((*S, "grid", "epsilon"), 0, ["studies.s.grid.epsilon", "above 0", "found 0"]),
        ((*S, "grid", "epsilon"), [0.1, -1], ["studies.s.grid.epsilon[1]", "above 0", "found -1"]),
        ((*S, "grid", "epsilon_aux"), ["2 8", "2 x"], ["studies.s.grid.epsilon_aux[1]", "found '2 x'"]),
        ((*S, "horizon"), "many", ["studies.s.horizon", "'many' is not of type 'integer'"]),
        ((*S, "replicats"), 3, ["studies.s.replicats", "unknown key", "replicates"]),
        ((*S, "replicates"), 0, ["studies.s.replicates", "0 is less than the minimum of 1"]),
        ((*S, "checkpoints"), {"count": 5}, ["studies.s.checkpoints", "'first' is a required property"]),
    ],
)
def test_faults_of_a_paper(tmp_path, path, value, words):
    file = written(tmp_path, changed(PAPER, path, value))
    with pytest.raises(PrivarmsError) as fault:
        configuration.load_paper(file, "quick")
    for word in [str(file), *words]:
        assert word in str(fault.value)
    assert "\n" not in str(fault.value)
