"""Check extensions: discovery, separation from the library, and one-line errors with file and line."""

import itertools
import os
from pathlib import Path

import numba
import numpy as np
import pytest

from privarms.errors import PrivarmsError
from privarms.execution import run
from privarms.execution.cell import Piece
from privarms.planning import additions, cells, jobs, paths, plan
from privarms.planning.configuration import Configuration
from privarms.planning.studies import Paper, StudiesFile, Study
from privarms.policies import Policy, functions
from privarms.policies.stopping import Rule
from privarms.registry import extensions, library, source_files
from privarms.registry.modules import FamilyModule, PolicyModule, ProtocolModule
from tests import PAPERS

POLICY = """
from typing import NamedTuple
import numpy as np
from numba import njit
from ._pulled import least

LABEL = "Least pulled"

class Params(NamedTuple):
    n_arms: int

class State(NamedTuple):
    pulls: np.ndarray

def configure(K: int) -> Params:
    return Params(int(K))

@njit
def init(params):
    return State(np.zeros(params.n_arms, np.int64))

@njit
def choose(params, state, context, t, rng):
    return least(state.pulls)

@njit
def learn(params, state, context, arm, reward, t, rng):
    state.pulls[arm] += 1
    return state
"""
PULLED = "from numba import njit\nimport numpy as np\n\n@njit\ndef least(pulls):\n    return np.argmin(pulls)\n"
ENVIRONMENT = """
from typing import NamedTuple
import numpy as np
from numba import njit

class Environment(NamedTuple):
    pull: object
    means: np.ndarray

@njit
def pull(environment, arm, rng):
    return np.nan if rng.random() < 0.5 else 1.0

def configure(K: int) -> Environment:
    return Environment(pull, np.linspace(0.9, 0.1, K))
"""
FAST_PATH = """
from numba import njit

@njit
def simulate(params, environment, checkpoints, rng, record):
    record.pulls[:] = 0
"""
STUDY = {
    "protocol": "bandit",
    "environment": {"name": "bernoulli", "top": 0.9, "bottom": 0.1},
    "horizon": 10,
    "replicates": 1,
    "block": 1,
    "grid": {"K": 2},
    "policies": [{"policy": "least_pulled"}],
}
LINEAR = {
    "protocol": "linear",
    "environment": {"name": "linear", "variant": "as_printed"},
    "grid": {"K": 2, "dimensions": 5},
}
STOPPING = {
    "protocol": "stopping",
    "environment": {"name": "two_point", "mu": 0.5, "R": 1},
    "grid": {"alpha": 0.5, "beta": 0.05, "epsilon": 1},
}
EXPERIMENT = {
    "protocol": "experiment",
    "environment": {"name": "features_bernoulli"},
    "horizon": 400,
    "grid": {"M": 2, "alpha": 0.5, "arrivals": "stationary"},
}
CONFIG = Configuration(scale="quick", seed=1, shard_seconds=10, papers=str(PAPERS), sources="data/sources.yaml")
ABOUT = StudiesFile.model_construct(title="t")
number = itertools.count()


@pytest.fixture
def extension(tmp_path, monkeypatch):
    """Return extension(file, text), which writes a file of a new extension that is in use."""
    folder = tmp_path / f"mine_{next(number)}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(extensions.VARIABLE, "")
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)

    def write(file, text):
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        extensions.extend([folder])
        library._modules.cache_clear()
        return path

    write("policies/bandit/least_pulled.py", POLICY)
    write("policies/bandit/_pulled.py", PULLED)
    return write


def planned(**changes):
    return cells.expand("p.yaml", "p", "s", Study.model_validate(STUDY | changes))


def rows(**changes):
    (cell,) = planned(**changes)
    return run.run_piece(Piece(cell, 0, cell.blocks), 3, {})


def refused(message, do=planned, **changes):
    with pytest.raises(PrivarmsError, match=message) as error:
        do(**changes)
    assert len(str(error.value).splitlines()) == 1


FROM_FILE = ENVIRONMENT.replace("def configure(K: int)", "def configure(K: int, file: str)")


@pytest.mark.parametrize("place", ["means.csv", "mine/environments/means.csv"])
def test_a_file_that_a_parameter_names_is_a_parameter_of_the_job(extension, tmp_path, place):
    module = extension("environments/of_file.py", FROM_FILE)
    file = tmp_path / "means.csv" if place == "means.csv" else module.with_name("means.csv")
    study = STUDY | {"environment": {"name": "of_file", "file": "means.csv"}}
    (cell,) = cells.expand("p.yaml", "p", "s", Study.model_validate(study))
    digests = [jobs.digests_of_named_files([cell])]
    for text, date in (("new", 2e9), ("older", 1e9)):
        file.write_text(text)
        os.utime(file, (date, date))
        digests.append(jobs.digests_of_named_files([cell]))
    assert digests[0] == []
    assert len({*map(str, digests)}) == 3


def test_what_a_module_imports_and_its_fast_path_are_inputs_and_nothing_else_of_the_folder(extension):
    extension("policies/bandit/other.py", POLICY)
    assert PolicyModule("least_pulled").fast_path("bernoulli") is None
    extension("fast_paths/bandit/least_pulled__bernoulli.py", FAST_PATH)
    extension("policies/bandit/renamed.py", POLICY + 'FAST_PATHS_OF = "least_pulled"\n')
    fast_path = PolicyModule("least_pulled").fast_path("bernoulli")
    assert fast_path == PolicyModule("renamed").fast_path("bernoulli")
    assert PolicyModule("least_pulled").fast_path("two_point") is None
    files = {Path(f).name for f in source_files.sources(PolicyModule("least_pulled").dotted, fast_path)}
    assert {"least_pulled.py", "_pulled.py", "least_pulled__bernoulli.py"} <= files
    assert "other.py" not in files
    planned()
    extension("fast_paths/bandit/other__bernoulli.py", FAST_PATH.replace("checkpoints, ", ""))
    refused(
        r"other__bernoulli.py:4: expected simulate\(params, .*; found simulate\(params, environment, rng, record\)",
        policies=[{"policy": "other"}],
    )


def in_python(text):
    return text.replace("@njit\n", "")


CHOICE, CONFIGURE = "return least(state.pulls)", "def configure(K: int)"
BUDGET = "def configure(K: int, epsilon: float = 3)"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "context, t, rng):\n",
            "context, rng):\n",
            r"py:\d+: expected choose\(.*; found choose\(params, state, context",
        ),
        ("def configure", "def configured", r"py: expected a function configure"),
        ("from ._pulled", "from ._pushed", r"py:5: ModuleNotFoundError: .*_pushed"),
        (CONFIGURE, "def configure(K: int", r"py:15: SyntaxError: "),
        (CONFIGURE, "def configure(K: int, arm: int = 3)", "the parameter name 'arm' clashes with a result column"),
        (CONFIGURE, "def configure(K: int, epsilon: float = 3)", "'epsilon' means a privacy budget"),
        (
            CONFIGURE,
            "PRIVATE = None\n\n\ndef configure(K: int, epsilon: float = 3)",
            "'epsilon' means a privacy budget",
        ),
        (
            CONFIGURE,
            "ALSO_FITS = 'linear'\n\n\n" + CONFIGURE,
            r"py: ALSO_FITS: expected a tuple of texts, .* found 'linear'",
        ),
        (CONFIGURE, "ALSO_FITS = ('linaer',)\n\n\n" + CONFIGURE, "py: ALSO_FITS: unknown family 'linaer'"),
        (CONFIGURE, "PRIVATE = 'no'\n\n\n" + BUDGET, "py: PRIVATE: expected True or False; found 'no'"),
        (
            CONFIGURE,
            "PRIVATE, PRIVACY = True, 'aproximate'\n\n\n" + BUDGET,
            "py: PRIVACY: expected one of .* 'aproximate'",
        ),
        (CONFIGURE, "STREAMED_AS = 'old'\n\n\n" + CONFIGURE, "py: STREAMED_AS: expected a dictionary; found 'old'"),
    ],
)
def test_a_policy_that_does_not_fit_is_one_line_before_anything_runs(extension, old, new, message):
    assert old in POLICY
    extension("policies/bandit/least_pulled.py", POLICY.replace(old, new))
    refused(message)


def test_a_family_says_what_its_policies_have(extension):
    extension("policies/walking/__init__.py", '"""A family."""\n')
    with pytest.raises(PrivarmsError, match=r"policies/walking/__init__\.py: expected CONTRACT, .*; found none"):
        _ = FamilyModule("walking").contract


def test_a_policy_fits_other_families_if_it_says_so(extension):
    refused("least_pulled.py is of the family bandit, but the protocol linear runs the family linear", **LINEAR)
    extension("policies/bandit/looks_away.py", POLICY + 'ALSO_FITS = ("linear",)\n')
    assert planned(**LINEAR, policies=[{"policy": "looks_away"}])


PLAIN = in_python(POLICY)


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (PLAIN, CHOICE, "return t % 2 + 1", ":21: .*: ArmError: choose returned arm 2 in round 1; expected 0 to 1"),
        (PLAIN, "    return state\n", "    raise ValueError('no')\n", ":26: .*: ValueError: no"),
        # Compiled code, with the line if numba reports it.
        (POLICY, CHOICE, "return -1", ":22: .*: ArmError: choose returned arm -1 in round 1; expected 0 to 1"),
        (POLICY, CHOICE, "return 0.5", ": .*: numba cannot compile this: choose returns float64; expected an arm"),
        (POLICY, "np.zeros(params.n_arms, np.int64)", "np.full(params.n_arms, np.nan)", ": .*a nan in 'pulls' after"),
        (PLAIN, "np.zeros(params.n_arms, np.int64)", "np.full(params.n_arms, np.nan)", ": .*a nan in 'pulls' after"),
        (POLICY, "pulls[arm] +=", "pulls[arm + 7] +=", ": .*: IndexError: .*; run `NUMBA_DISABLE_JIT=1 privarms check"),
    ],
)
def test_a_fault_in_a_run_is_one_line_with_file_and_line(extension, text, old, new, message):
    extension("policies/bandit/least_pulled.py", text.replace(old, new))
    refused(r"^p/studies.yaml: studies.s: mine_\d+/policies/bandit/least_pulled.py" + message, rows)


def test_a_policy_and_an_environment_in_plain_python_run(extension):
    extension("policies/bandit/in_python.py", in_python(POLICY))
    extension("environments/steps.py", ENVIRONMENT.replace("np.nan", "0.0"))
    extension("environments/slow_steps.py", in_python(ENVIRONMENT).replace("np.nan", "0.0"))
    for policy, environment in (("in_python", "steps"), ("least_pulled", "slow_steps"), ("in_python", "slow_steps")):
        of = {"policies": [{"policy": policy}], "environment": {"name": environment}}
        result = rows(**of, record="arms", replicates=2, horizon=50)
        assert result["pulls"].to_pylist() == [25] * 4
        assert 0 < sum(result["reward_sum"].to_pylist()) < 100


@pytest.mark.parametrize(
    ("policy", "changes"),
    [("dp_se", {"horizon": 200}), ("oful", LINEAR), ("dp_nas", STOPPING), ("conse_se", EXPERIMENT)],
)
def test_the_loop_of_each_family_has_the_same_runs_in_plain_python(policy, changes):
    (cell,) = planned(**{"grid": {"K": 2, "epsilon": 1.0}, "policies": [{"policy": policy}], **changes})
    _, params, environment = run._configured(cell, {}).args
    module = PolicyModule(policy).module
    compiled = functions(Rule if policy == "dp_nas" else Policy, module)
    plain = type(compiled)(*(function.py_func for function in compiled))
    run_block = ProtocolModule(cell.protocol).module.run_block
    results = [
        run_block(one, params, environment, cell, 2, *map(np.random.default_rng, (1, 2))) for one in (compiled, plain)
    ]
    for column in results[0]:
        np.testing.assert_array_equal(results[0][column], results[1][column])


@pytest.mark.parametrize(
    ("folders", "message"),
    [
        (["my-own"], "extensions: my-own: expected a name of lower-case letters"),
        (["empty"], "extensions: empty: expected a folder that contains one of policies, .*; found none at .*/empty"),
        (["one/same", "two/same"], "that no other extension has; rename the folder same"),
    ],
)
def test_a_folder_that_cannot_be_one_is_refused(tmp_path, monkeypatch, folders, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(extensions.VARIABLE, "")
    for folder in ("my-own/policies", "empty", "one/same/policies", "two/same/papers"):
        (tmp_path / folder).mkdir(parents=True)
    with pytest.raises(PrivarmsError, match=message):
        extensions.extend(folders)
    assert extensions.folders() == ()


def test_a_study_needs_no_more_than_its_studies_and_gets_default_artifacts(extension):
    extension("papers/mine/studies.yaml", "studies:\n  s: " + str(STUDY).replace("'", "") + "\n")
    (folder,) = extensions.folders()
    papers = plan.papers(CONFIG)
    assert list(papers)[-1] == "mine"
    assert list(papers["mine"].studies) == ["s"]
    assert set(papers["mine"].artifacts) == {"s", "s_over_time", "s_quantiles", "s_final"}
    assert paths.folder(CONFIG.papers, "mine") == f"{folder.name}/papers/mine"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("papers/sajed2019/studies.yaml", r"papers/sajed2019/studies.yaml: .*config/papers/sajed2019/studies.yaml"),
        ("papers/my_study/studies.yaml", r"my_study/studies.yaml: expected a folder name of lower-case letters"),
    ],
)
def test_files_in_place_of_ours_are_refused(extension, file, message):
    extension(file, "studies:\n  s: " + str(STUDY).replace("'", "") + "\n")
    refused(message, lambda: plan.papers(CONFIG))


def test_policies_are_added_to_a_study_and_faults_in_them_name_the_key(extension):
    papers = {"p": Paper("p", ABOUT, {"s": Study.model_validate(STUDY)})}
    config = CONFIG.model_copy(update={"add": {"p": {"s": [{"policy": "uniform"}, {"policy": "ucb9"}]}}})
    added = additions.add(papers, config)
    with pytest.raises(PrivarmsError, match=r"^--configfile or --config: add.p.s\[1\].policy: unknown name 'ucb9'"):
        cells.expand("p.yaml", "p", "s", added["p"].studies["s"])
    assert papers["p"].studies["s"] == Study.model_validate(STUDY)
    for wrong, message in (
        ({"q": {"s": [{"policy": "ucb1"}]}}, "add.q: unknown paper 'q'; expected one of p"),
        ({"p": {"r": [{"policy": "ucb1"}]}}, "add.p.r: unknown study 'r'; expected one of s"),
        (
            {"p": {"s": [{"policy": "ucb1", "replicates": 0}]}},
            r"add.p.s\[0\]: replicates: expected at least 1",
        ),
    ):
        with pytest.raises(PrivarmsError, match=message):
            additions.add(papers, CONFIG.model_copy(update={"add": wrong}))
