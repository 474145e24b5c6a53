"""Check simulate, audit and compare from Python, and the template of a bandit."""

import doctest
import json
import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import numba
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

import privarms
from privarms.cli import leaderboard, new
from privarms.errors import PrivarmsError
from privarms.planning import auditing
from privarms.registry import extensions, imported
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
    with pytest.raises(PrivarmsError, match=words):
        privarms.simulate(**{"horizon": 100} | inputs)


HALF_THE_NOISE = "laplace(1 / params.epsilon, rng)", "laplace(0.5 / params.epsilon, rng)"


@pytest.fixture
def one_size(monkeypatch):
    """Audit with two arms over 64 rounds only."""
    monkeypatch.setattr(auditing, "SIZES", auditing.SIZES[:1])


def test_the_template_runs_and_half_of_its_noise_is_caught(one_size, tmp_path):
    file = new.write_policy("my_bandit", tmp_path / "mine")
    table = privarms.audit("my_bandit", epsilon=1, trials=4_000, extension=tmp_path / "mine")
    assert "not private as claimed" not in set(table["verdict"])
    text = file.read_text(encoding="utf-8")
    assert HALF_THE_NOISE[0] in text
    half = tmp_path / "half/policies/bandit/leaking.py"
    half.parent.mkdir(parents=True)
    half.write_text(text.replace(*HALF_THE_NOISE), encoding="utf-8")
    table = privarms.audit("leaking", epsilon=1, trials=4_000, extension=tmp_path / "half")
    assert "not private as claimed" in set(table["verdict"])
    with pytest.raises(PrivarmsError, match="dp_se"):
        new.write_policy("dp_se", tmp_path / "mine")


TWO_ARMS = {"K": 2, "top": 0.9, "bottom": 0.1, "horizon": 400, "replicates": 2, "checkpoints": 1}
ALWAYS = """
from typing import NamedTuple
import numpy as np
from numba import njit
from ...mechanisms.places import arm

LABEL = "Always {arm}"

class Params(NamedTuple):
    n_arms: int

class State(NamedTuple):
    pulls: np.ndarray

def configure(K: int) -> Params:
    return Params(K)

@njit
def init(params):
    return State(np.zeros(params.n_arms, np.int64))

@njit
def choose(params, state, context, t, rng):
    return arm()

@njit
def learn(params, state, context, arm, reward, t, rng):
    return state
"""
PLACES = "from numba import njit\n\n@njit\ndef arm():\n    return {arm}\n"
REGRETS = """
import sys
import privarms
for policy in sys.argv[2:]:
    print(privarms.simulate(policy, extension=sys.argv[1], **{inputs})["regret"].mean())
"""


def written(folder, name, arm, compiled=True):
    """Write a policy that always plays one of two arms; the arm is in a file that the policy imports."""
    for file, text in ((f"policies/bandit/{name}.py", ALWAYS), ("mechanisms/places.py", PLACES)):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        text = text.replace("{arm}", str(arm))
        (folder / file).write_text(text if compiled else text.replace("@njit\n", ""), encoding="utf-8")
    return folder


def test_several_extensions_are_used_together_and_only_in_their_call(tmp_path):
    zero = written(tmp_path / "zero", "always_zero", 0, compiled=False)
    one = written(tmp_path / "one", "always_one", 1, compiled=False)
    both = privarms.compare(
        ["always_zero", "always_one"], extension=[zero, str(one), tmp_path / "zero/../one"], **TWO_ARMS
    )
    assert sorted(drawn(both).values()) == pytest.approx([0, 320])
    for folder, own, other in ((zero, "always_zero", "always_one"), (one, "always_one", "always_zero")):
        assert set(privarms.simulate(own, extension=folder, **TWO_ARMS)["policy"]) == {own}
        for call in ({"extension": folder}, {}):
            with pytest.raises(PrivarmsError, match=rf"unknown policy '{other}'; .*`extension` names in this call"):
                privarms.simulate(other, **call, **TWO_ARMS)
    written(tmp_path / "copy", "always_one", 0, compiled=False)
    with pytest.raises(PrivarmsError, match="always_one: duplicate name among the policies"):
        privarms.simulate("always_one", extension=[one, tmp_path / "copy"], **TWO_ARMS)


def test_threads_may_use_different_extensions(tmp_path):
    folders = [
        written(tmp_path / place, "always", arm, compiled=False) for place, arm in (("a/mine", 0), ("b/mine", 1))
    ]
    folders.append(written(tmp_path / "other", "always", 1, compiled=False))

    def regret(folder):
        return privarms.simulate("always", extension=folder, **TWO_ARMS)["regret"].mean()

    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(regret, 4 * folders))
    assert found == pytest.approx(4 * [0, 320, 320])


def test_an_extension_that_was_not_edited_is_imported_once(tmp_path):
    file = written(tmp_path / "counted", "always", 0, compiled=False) / "policies/bandit/always.py"
    imports = f"\nwith open({str(tmp_path / 'imports')!r}, 'a') as file:\n    file.write('x')\n"
    file.write_text(file.read_text(encoding="utf-8") + imports, encoding="utf-8")
    for _ in range(2):
        privarms.simulate("always", extension=tmp_path / "counted", **TWO_ARMS)
        privarms.simulate("uniform", **TWO_ARMS)
    assert (tmp_path / "imports").read_text() == "x"


def test_an_edited_policy_runs_in_this_process_and_in_the_next(tmp_path, monkeypatch):
    # The kernels of all processes are in one folder. The edit changes neither the size nor, often, the second.
    monkeypatch.setenv("PRIVARMS_KERNELS", str(tmp_path / "kernels"))
    folder = tmp_path / "edited"
    for arm, regret in ((0, 0), (1, 320), (0, 0)):
        written(folder, "always", arm)
        runs = privarms.simulate("always", extension=folder, **TWO_ARMS)
        assert runs["regret"].tolist() == pytest.approx([regret] * 2)
    written(folder, "always", 1)
    privarms.simulate("always", extension=folder, **TWO_ARMS)
    command = [sys.executable, "-c", REGRETS.replace("{inputs}", repr(TWO_ARMS)), str(folder), "always"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert float(other.stdout) == pytest.approx(320)


def test_new_repaired_and_removed_files_and_another_folder_of_one_name_are_seen(tmp_path):
    folder = tmp_path / "a/mine"
    written(folder, "always", 0)
    privarms.simulate("always", extension=folder, **TWO_ARMS)
    written(folder, "later", 1)
    assert privarms.simulate("later", extension=folder, **TWO_ARMS)["regret"].mean() == pytest.approx(320)
    broken = folder / "policies/bandit/later.py"
    text = broken.read_text(encoding="utf-8")
    broken.write_text("def configure(:", encoding="utf-8")
    with pytest.raises(PrivarmsError, match=r"later\.py:1"):
        privarms.simulate("later", extension=folder, **TWO_ARMS)
    broken.write_text(text, encoding="utf-8")
    assert privarms.simulate("later", extension=folder, **TWO_ARMS)["regret"].mean() == pytest.approx(320)
    broken.unlink()
    with pytest.raises(PrivarmsError, match="unknown policy 'later'"):
        privarms.simulate("later", extension=folder, **TWO_ARMS)
    written(tmp_path / "b/mine", "always", 0)
    other = privarms.simulate("always", extension=tmp_path / "b/mine", **TWO_ARMS)
    assert other["regret"].mean() == pytest.approx(0)


READS = """
from pathlib import Path

import numpy as np

TABLE = np.loadtxt(Path(__file__).parents[1] / "{file}")

@njit
def arm():
    return int(TABLE[0])
"""


@pytest.mark.parametrize("file", ["mechanisms/places.csv", "arms.csv"])
def test_an_edited_table_that_a_module_reads_is_seen(tmp_path, monkeypatch, file):
    monkeypatch.setenv("PRIVARMS_KERNELS", str(tmp_path / "kernels"))
    folder = tmp_path / "tables"
    written(folder, "always", 0)
    reads = PLACES.partition("\n")[0] + READS.replace("{file}", file)
    (folder / "mechanisms/places.py").write_text(reads, encoding="utf-8")
    command = [sys.executable, "-c", REGRETS.replace("{inputs}", repr(TWO_ARMS)), str(folder), "always"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    for arm, regret in ((0, 0), (1, 320)):
        (folder / file).write_text(f"{arm}\n0\n", encoding="utf-8")
        other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert float(other.stdout) == pytest.approx(regret)
        # Python reads a table again with the module that it belongs to.
        if file == "mechanisms/places.csv":
            runs = privarms.simulate("always", extension=folder, **TWO_ARMS)
            assert runs["regret"].mean() == pytest.approx(regret)


def test_an_edit_of_a_module_outside_of_the_extension_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVARMS_KERNELS", str(tmp_path / "kernels"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(imported, "_watched", set())
    folder, outside = tmp_path / "mine", tmp_path / "own_places.py"
    written(folder, "always", 0)
    outside.write_text(PLACES.replace("{arm}", "0"), encoding="utf-8")
    (folder / "mechanisms/places.py").write_text("from own_places import arm\n", encoding="utf-8")
    privarms.simulate("always", extension=folder, **TWO_ARMS)
    outside.write_text(PLACES.replace("{arm}", "1 + 0"), encoding="utf-8")
    with pytest.raises(PrivarmsError, match=r"own_places\.py: edited after .*restart Python"):
        privarms.simulate("always", extension=folder, **TWO_ARMS)
    command = [sys.executable, "-c", REGRETS.replace("{inputs}", repr(TWO_ARMS)), str(folder), "always"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "workflow"), str(tmp_path)])}
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert float(other.stdout) == pytest.approx(320)


def test_an_edited_policy_is_audited_anew(one_size, tmp_path):
    file = new.write_policy("my_bandit", tmp_path / "mine")
    assert "not private as claimed" not in set(
        privarms.audit("my_bandit", trials=4_000, extension=tmp_path / "mine")["verdict"]
    )
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(HALF_THE_NOISE[0], "0.0"), encoding="utf-8")
    table = privarms.audit("my_bandit", trials=1_000, extension=tmp_path / "mine")
    assert "not private as claimed" in set(table["verdict"])


def test_an_edit_of_the_library_is_refused(monkeypatch):
    file = Path(privarms.__file__).parent / "policies/bandit/uniform.py"
    privarms.simulate("uniform", **TWO_ARMS)
    before = file.stat()
    try:
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns - 10**9))
        for _ in range(2):
            with pytest.raises(PrivarmsError, match=r"uniform\.py: edited after .*restart Python"):
                privarms.simulate("uniform", **TWO_ARMS)
    finally:
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    privarms.simulate("uniform", **TWO_ARMS)


def drawn(figure):
    """Return label -> last mean of each curve."""
    return {line.get_label(): line.get_ydata()[-1] for line in figure.axes[0].lines}


def test_a_comparison_has_one_curve_per_setting(tmp_path):
    options = {"K": [2, 3], "horizon": 500, "replicates": 4, "checkpoints": 3}
    budgets = {"policy": "dp_klucb", "epsilon": [0.1, 1.0]}
    figure = privarms.compare(["dp_klucb", budgets, "ucb1", "ucb1", {"policy": "ucb1", "K": 2}], **options)
    runs = pd.concat(
        [privarms.simulate("dp_klucb", **{**options, "epsilon": [0.1, 1.0]}), privarms.simulate("ucb1", **options)]
    )
    ends = runs[runs["t"] == 500].groupby(["policy", "epsilon", "K"], dropna=False)["regret"].mean()
    assert sorted(drawn(figure).values()) == pytest.approx(sorted(ends))
    assert len(set(drawn(figure))) == len(ends) == 6
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(entries) == sorted(drawn(figure))
    assert len(drawn(privarms.compare("ucb1", **{**options, "K": 2}))) == 1


def test_curves_with_the_same_label_stay_apart(tmp_path):
    for place, arm in (("a/mine", 0), ("b/mine", 1)):
        written(tmp_path / place, "always", arm)
    versions = [{"policy": "always", "extension": tmp_path / place} for place in ("a/mine", "b/mine")]
    assert sorted(drawn(privarms.compare(versions, **TWO_ARMS)).values()) == pytest.approx([0, 320])
    few_digits = privarms.compare("ucb1", **{**TWO_ARMS, "top": [0.9, 0.90000001]})
    assert len(drawn(few_digits)) == 2


def test_a_comparison_leaves_matplotlib_as_it_was():
    before = matplotlib.get_backend()
    try:
        matplotlib.use("svg")
        with matplotlib.rc_context({"font.size": 20, "axes.grid": False}):
            settings, figures = dict(matplotlib.rcParams), pyplot.get_fignums()
            figure = privarms.compare(["dp_se"], K=2, horizon=100, replicates=2)
            assert dict(matplotlib.rcParams) == settings
            assert pyplot.get_fignums() == figures
            # The figure keeps its own style wherever it is drawn.
            assert all(label.get_fontsize() < 10 for label in figure.axes[0].get_xticklabels())
    finally:
        matplotlib.use(before)


def test_runs_of_an_extension_leave_numba_as_it_was(monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    privarms.simulate("private_halving", K=2, horizon=100, replicates=2, extension=EXAMPLE)
    assert numba.config.BOUNDSCHECK is None


@pytest.mark.parametrize("policies", [[], [{}], [{"polcy": "dp_se"}], "dp_sse"])
def test_a_comparison_of_nothing_known_is_one_clear_error(policies):
    with pytest.raises(PrivarmsError, match=r"at least one policy|the key 'policy'|unknown policy 'dp_sse'"):
        privarms.compare(policies, K=2, horizon=100, replicates=2)


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
        lambda: leaderboard.compare(tmp_path, epsilon=[epsilon], horizon=[10], replicates=2, trials=10),
    ):
        with pytest.raises((PrivarmsError, ValueError), match="epsilon: expected"):
            call()


def test_numbers_and_sequences_of_numpy_are_those_of_python():
    expected = privarms.simulate("dp_se", K=[2, 3], epsilon=[0.5, 1.0], horizon=50, replicates=2, checkpoints=1)
    for arms, budgets in ((range(2, 4), np.array([0.5, 1.0])), ((2, 3.0), pd.Series([0.5, 1])), ([2, 3], (0.5, 1))):
        inputs = {"K": arms, "epsilon": budgets, "horizon": np.int64(50), "replicates": 2.0}
        runs = privarms.simulate(np.str_("dp_se"), checkpoints=np.int32(1), **inputs)
        pd.testing.assert_frame_equal(runs, expected)


def test_a_list_of_horizons_runs_each_of_them():
    runs = privarms.simulate("uniform", K=2, horizon=(20, 40), replicates=2, checkpoints=1)
    assert runs.groupby("horizon")["t"].max().to_dict() == {20: 20, 40: 40}
