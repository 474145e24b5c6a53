"""Check simulate, audit and compare from Python, the leaderboard, and the template of a bandit."""

import doctest
import json
import math
import re
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

import privarms
from privarms import leaderboard, new
from privarms.command import main
from privarms.errors import PrivarmsError
from privarms.studies import extensions
from tests import ROOT

EXAMPLE = ROOT / "examples/my_bandits"


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Remove extensions after a test, and draw nothing on a screen."""
    monkeypatch.setenv(extensions.VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context():
        yield


def test_rows_are_the_runs_and_the_same_each_time():
    runs = privarms.simulate("ucb1", K=3, horizon=500, replicates=4, checkpoints=5)
    assert sorted(runs["replicate"].unique()) == [0, 1, 2, 3]
    assert runs.groupby("replicate")["t"].max().tolist() == [500] * 4
    assert (runs.groupby("replicate")["regret"].diff().dropna() >= 0).all()
    pd.testing.assert_frame_equal(runs, privarms.simulate("ucb1", K=3, horizon=500, replicates=4, checkpoints=5))
    other = privarms.simulate("ucb1", K=3, horizon=500, replicates=4, checkpoints=5, seed=1)
    assert (runs["regret"] != other["regret"]).any()


def test_uniform_play_has_the_regret_of_its_gaps():
    runs = privarms.simulate("uniform", K=2, top=0.9, bottom=0.5, horizon=10_000, replicates=20, checkpoints=1)
    # Half of the rounds at a gap of .4; a run's standard deviation is .4 sqrt(10,000) / 2 = 20.
    assert runs["regret"].mean() == pytest.approx(2_000, abs=5 * 20 / math.sqrt(20))


def test_means_that_change_need_their_own_protocol():
    inputs = {"environment": "changing_bernoulli", "K": 2, "top": 1.0, "bottom": 0.0, "period": 10}
    runs = privarms.simulate("uniform", protocol="changing_arms", horizon=1_000, replicates=20, checkpoints=1, **inputs)
    # Half of the rounds at a gap of 1; a run's standard deviation is sqrt(1,000) / 2.
    assert runs["regret"].mean() == pytest.approx(500, abs=5 * math.sqrt(1_000 / 20) / 2)


def test_a_list_runs_each_of_its_values_and_own_policies_come_from_a_folder():
    runs = privarms.simulate("private_halving", epsilon=[0.1, 1], horizon=400, replicates=2, extension=EXAMPLE)
    assert sorted(runs["epsilon"].unique()) == [0.1, 1]


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"policy": "dp_sse"}, "dp_sse"),
        ({"policy": "dp_se", "environment": "bernouli"}, "bernouli"),
        ({"policy": "dp_se", "epsilon": 0}, "epsilon"),
        ({"policy": "dp_se", "widht": 1}, "widht"),
        ({"policy": "dp_se", "protocol": "linear"}, "unknown protocol 'linear'; expected one of .*changing_arms"),
        ({"policy": "dp_se", "replicates": 0}, "replicates"),
        ({"policy": "oful", "K": 2, "dimensions": 2}, "linear needs an environment with 'dimensions'; bernoulli"),
        ({"policy": "dp_se", "environment": "symmetric", "K": 2, "variant": "as_printed"}, "needs an .*'means'"),
    ],
)
def test_bad_arguments_are_one_clear_error(inputs, words):
    with pytest.raises((PrivarmsError, ValueError), match=words):
        privarms.simulate(**{"horizon": 100} | inputs)


HALF_THE_NOISE = "laplace(1 / params.epsilon, rng)", "laplace(0.5 / params.epsilon, rng)"


def test_the_template_runs_and_half_of_its_noise_is_caught(tmp_path):
    file = new.write_policy("my_bandit", tmp_path / "mine")
    table = privarms.audit("my_bandit", epsilon=1, trials=20_000, extension=tmp_path / "mine")
    assert "not private as claimed" not in set(table["verdict"])
    text = file.read_text(encoding="utf-8")
    assert HALF_THE_NOISE[0] in text
    half = tmp_path / "half/policies/bandit/leaking.py"
    half.parent.mkdir(parents=True)
    half.write_text(text.replace(*HALF_THE_NOISE), encoding="utf-8")
    table = privarms.audit("leaking", epsilon=1, trials=20_000, extension=tmp_path / "half")
    assert "not private as claimed" in set(table["verdict"])
    with pytest.raises(PrivarmsError, match="dp_se"):
        new.write_policy("dp_se", tmp_path / "mine")


def test_a_leaderboard_ranks_every_instance_and_is_written(tmp_path, capsys):
    options = ["--horizon", "2000", "--replicates", "4", "--trials", "200"]
    assert main(["compare", str(EXAMPLE), *options, "--output", str(tmp_path / "board")]) == 0
    rows = pd.read_csv(tmp_path / "board.csv")
    assert (tmp_path / "board.png").stat().st_size > 0
    assert {"private_halving", "dp_se", "dp_ucb"} <= set(rows["policy"])
    assert rows["instance"].nunique() == len(leaderboard.INSTANCES)
    for _, some in rows.groupby("instance"):
        assert some["regret"].is_monotonic_increasing
        assert some["rank"].sum() == len(some) * (len(some) + 1) / 2
        best = some.loc[~some["own"], "regret"].min()
        assert (some["difference"] - (some["regret"] - best)).abs().max() < 1e-6
    assert "private_halving" in capsys.readouterr().out
    assert main(["compare", str(tmp_path)]) == 2


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_the_page_and_the_notebook_run_as_printed(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    text = (
        (ROOT / "docs/python.md").read_text(encoding="utf-8").replace('"regret.png"', f'r"{tmp_path / "regret.png"}"')
    )
    page = doctest.DocTestParser().get_doctest(
        re.sub(r"^```.*$", "", text, flags=re.MULTILINE), {}, "python.md", None, 0
    )
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(page)
    assert (result.failed, result.attempted > 5) == (0, True)
    monkeypatch.chdir(ROOT / "examples")
    notebook = json.loads(Path("first_steps.ipynb").read_text(encoding="utf-8"))
    names: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "first_steps.ipynb", "exec"), names)
    assert len(names["own"]["epsilon"].unique()) == 2


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf")])
def test_a_budget_that_is_none_is_one_clear_error(epsilon, tmp_path):
    for call in (
        lambda: privarms.simulate("dp_se", K=2, epsilon=epsilon, horizon=10),
        lambda: privarms.audit("dp_se", epsilon=epsilon),
        lambda: leaderboard.compare(tmp_path, epsilon=epsilon, horizon=10, replicates=2, trials=10),
    ):
        with pytest.raises((PrivarmsError, ValueError), match="epsilon: expected"):
            call()


def test_a_parameter_that_is_no_number_is_named():
    with pytest.raises(ValueError, match="top: expected a finite number; found nan"):
        privarms.simulate("ucb1", K=2, horizon=10, top=float("nan"), bottom=0.5)
