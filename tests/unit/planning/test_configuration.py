"""Check that messages about YAML files name the file, the key, the expected and the actual value."""

import copy

import pytest
import yaml

from privarms.errors import PrivarmsError
from privarms.planning import configuration

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
    assert configuration.load_paper(file, "paper").studies["s"].horizon == 1000
    assert configuration.load_paper(file, "quick").studies["s"].replicates == 3


RUN = "scale: paper\nseed: 1\nshard_seconds: 9\npapers: p\nsources: s\n"


def of_run(folder, text, options=()):
    """Return the configuration from a file with all keys, another file with this text, and options."""
    files = [folder / "all.yaml", folder / "my.yaml"]
    for file, content in zip(files, (RUN, text), strict=True):
        file.write_text(content, encoding="utf-8")
    return configuration.of_run(files, options)


def test_files_and_options_spell_numbers_as_studies_do(tmp_path):
    text = "add: {p: {s: [{policy: dp_se, beta: 1e-2}]}}\naudit_trials: 1e4\n"
    config = of_run(tmp_path, text, ["seed=2e3", "add={p: {t: [{policy: dp_se, beta: 0.02, n: 1e2}]}}", "mirror="])
    assert config["add"] == {
        "p": {"s": [{"policy": "dp_se", "beta": 0.01}], "t": [{"policy": "dp_se", "beta": 0.02, "n": 100}]}
    }
    assert (config["scale"], config["seed"], config["audit_trials"], config["mirror"]) == ("paper", 2000, 10_000, None)
    assert type(config["seed"]) is type(config["add"]["p"]["t"][0]["n"]) is int


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("add: {}\nseed: 1\nadd: {}\n", (), ["my.yaml", "duplicate key 'add'", "line 3"]),
        ("add:\n  p: {s: [{policy: x}]}\n  p: {t: [{policy: x}]}\n", (), ["my.yaml", "duplicate key 'p'", "line 3"]),
        ("add: {p: {1: [{policy: x}]}}", (), ["my.yaml", "expected a text as key", "'1'"]),
        ("seeed: 1", (), ["my.yaml", "seeed: unknown key"]),
        ("shard_seconds: .inf", (), ["my.yaml", "shard_seconds: expected a finite number", "found inf"]),
        ("add: {p: {s: [{policy: x, b: [1, .nan]}]}}", (), ["my.yaml", "add.p.s[0].b[1]: expected a finite number"]),
        ("seed: 2", ["shard_seconds=1e999"], ["--config", "shard_seconds: expected a finite number"]),
        ("seed: 2", ["seed=2", "seed=3"], ["--config seed", "once"]),
        ("seed: 2", ["add={p: {s: [}"], ["--config add", "cannot be read"]),
        ("seed: 2", ["add={p: {s: []}, p: {}}"], ["--config add", "duplicate key 'p'"]),
    ],
)
def test_a_fault_of_a_run_s_configuration_is_one_line_with_its_file(tmp_path, text, options, words):
    with pytest.raises(PrivarmsError) as fault:
        of_run(tmp_path, text, options)
    assert all(word in str(fault.value) for word in words), fault.value
    assert "\n" not in str(fault.value)


S = ("studies", "s")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ((*S, "grid", "epsilon"), 0, ["studies.s.grid.epsilon", "above 0", "found 0"]),
        ((*S, "grid", "epsilon"), [0.1, -1], ["studies.s.grid.epsilon[1]", "above 0", "found -1"]),
        ((*S, "grid", "epsilon_aux"), ["2 8", "2 x"], ["studies.s.grid.epsilon_aux[1]", "found '2 x'"]),
        ((*S, "grid", "epsilon"), [0.1, float("inf")], ["studies.s.grid.epsilon[1]", "finite", "found inf"]),
        ((*S, "environment", "top"), float("nan"), ["studies.s.environment.top", "finite", "found nan"]),
        ((*S, "horizon"), "many", ["studies.s.horizon", "expected an integer; found 'many'"]),
        ((*S, "replicats"), 3, ["studies.s.replicats", "unknown key", "replicates"]),
        ((*S, "replicates"), 0, ["studies.s.replicates", "expected at least 1; found 0"]),
        ((*S, "checkpoints"), {"count": 5}, ["studies.s.checkpoints: the key 'first' is missing"]),
        (
            ("inference",),
            {"t": {"studies": ["s"]}},
            ["inference: found a section", "inference.py", "@inference(studies="],
        ),
    ],
)
def test_faults_of_a_paper(tmp_path, path, value, words):
    file = written(tmp_path, changed(PAPER, path, value))
    with pytest.raises(PrivarmsError) as fault:
        configuration.load_paper(file, "quick")
    for word in [str(file), *words]:
        assert word in str(fault.value)
    assert "\n" not in str(fault.value)
