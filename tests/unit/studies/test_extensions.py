"""Folders of a researcher's own: found, kept apart from ours, and their faults told before anything runs."""

import ast
import os
from pathlib import Path

import pytest

from privarms.errors import PrivarmsError
from privarms.studies import additions, cells, contract, library, paths, plan, source_faults

ROOT = Path(__file__).parents[3]
POLICY = """
from typing import NamedTuple
import numpy as np
from numba import njit
from privarms.policies import Policy
from ._pulled import least

LABEL = "Least pulled"
SECONDS_PER_RUN = 1e-5
SECONDS_PER_STEP = 1e-7

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

POLICY = Policy(init, choose, learn)
"""
PULLED = "from numba import njit\nimport numpy as np\n\n@njit\ndef least(pulls):\n    return np.argmin(pulls)\n"
STUDY = {
    "protocol": "bandit",
    "environment": {"name": "bernoulli", "top": 0.9, "bottom": 0.1},
    "horizon": 10,
    "replicates": 1,
    "block": 1,
    "grid": {"K": 2},
    "policies": [{"policy": "least_pulled"}],
}


@pytest.fixture
def extension(tmp_path, monkeypatch):
    """extension(file, text) writes a file of an extension that is in use."""
    folder = tmp_path / "mine_too"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(library.EXTENSIONS_VARIABLE, "")

    def write(file, text):
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for read in (
            *(library._modules, library.tree, library._literals, library.function_arguments, library._sources),
            source_faults._faults,
        ):
            read.cache_clear()
        library.extend([folder])
        return path

    write("policies/bandit/least_pulled.py", POLICY)
    write("policies/bandit/_pulled.py", PULLED)
    yield write
    library._modules.cache_clear()


def planned():
    return cells.expand("p.yaml", "p", "s", STUDY)


def refused(said):
    with pytest.raises(PrivarmsError, match=said) as error:
        planned()
    assert len(str(error.value).splitlines()) == 1


def test_its_modules_are_found_and_have_a_package_of_their_own(extension):
    (cell,) = planned()
    assert library.module("policies", cell.policy) == "privarms_extensions.mine_too.policies.bandit.least_pulled"
    assert library.family("least_pulled") == "bandit"
    module = library.load("policies", "least_pulled")
    assert module.least.py_func([3, 1]) == 1
    assert module.__name__.startswith("privarms_extensions.mine_too.")
    assert library.policy_file("least_pulled") == "mine_too/policies/bandit/least_pulled.py"
    assert "least_pulled" in library.names("policies")


def test_what_a_module_imports_is_an_input_and_nothing_else_of_the_folder(extension):
    extension("policies/bandit/other.py", POLICY)
    files = {Path(f).name for f in library.sources(library.module("policies", "least_pulled"))}
    assert {"least_pulled.py", "_pulled.py"} <= files
    assert "other.py" not in files


def test_a_name_of_ours_is_refused_with_both_files(extension):
    extension("policies/linear/ucb1.py", POLICY)
    refused(r"mine_too/policies/linear/ucb1.py: ucb1: expected a name .*bandit/ucb1.py has it")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("t, rng):\n    return least", "rng):\n    return least", r"found choose\(params, state, context, rng\)"),
        ("def learn", "def learned", r"expected the function learn\(.*; found none of this name"),
        ("POLICY = Policy(init, choose, learn)", "", "expected POLICY = .*; found nothing"),
        ("def configure", "def configured", r"expected a function configure"),
        ("@njit\ndef learn", "def learn", r"least_pulled.py:29: learn has no @njit"),
        ("least(state.pulls)", "np.random.randint(2)", r"least_pulled.py:\d+: numpy.random.randint: .* `rng`"),
        ("@njit\ndef init", "@njit(cache=True)\ndef init", r"least_pulled.py:\d+: cache=True: .* after an edit"),
        (
            "LABEL =",
            "import privarms.mechanisms as m\nm.laplace = 3\nLABEL =",
            r"py:9: m.laplace = 3: expected that what",
        ),
        ("@njit\ndef init", "@njit(boundscheck=False)\ndef init", "boundscheck=False: an index outside"),
        (
            "state.pulls[arm] += 1",
            "state.pulls.flat[arm] += 1",
            r"py:31: state.pulls.flat\[arm\]: no bounds are checked",
        ),
        ("import numpy as np", "import numpy as np\nfrom numba import carray\nX = carray", "py:5: carray: no bounds"),
        ("@njit\ndef init", "@njit(parallel=True)\ndef init", "parallel=True: threads"),
        ("@njit\ndef init", "from numba import jit\n@jit(forceobj=True)\ndef init", "forceobj=True: .*object mode"),
        ("import numpy as np", "import numpy as np\nfrom random import random as r\nX = r()", r"py:5: random.random: "),
        ("import numpy as np", "import numpy as np\nR = np.random\nX = R.rand()", r"py:4: numpy.random: expected"),
        ("import numpy as np", "from numpy import *\nX = random.rand()", r"py:4: numpy.random.rand: expected"),
        ("import numpy as np", "from random import *", r"py:3: from random import \*: expected all randomness"),
        ("return least", "print(t)\n    return least", r"py:27: print\(t\): it would print in every round"),
        ("return least", "with objmode():\n        pass\n    return least", r"py:27: objmode: that is Python"),
        ("state.pulls[arm] += 1", "params.n_arms[0] = 1", r"py:31: params.n_arms\[0\]: expected that params stay"),
        ("from ._pulled import least", "from ._pushed import least", r"py:6: import of privarms_ext.*_pushed: no such"),
        ("import numpy as np", "import numpy as np\nimport nothing_of_it", r"py:4: import of nothing_of_it: no such"),
        ("POLICY =", "SIMULATE = {'bernouli': choose}\nPOLICY =", r"py:34: SIMULATE: unknown environment 'bernouli'"),
        ("POLICY =", "SIMULATE = {'bernoulli': fast}\nPOLICY =", r"py:34: SIMULATE: no function fast in this module"),
        ("POLICY =", "SIMULATE = dict(a=choose)\nPOLICY =", r"py:34: SIMULATE: expected functions .* found dict\(a="),
        (
            "POLICY =",
            "SIMULATE = {'bernoulli': choose}\nPOLICY =",
            r"py:26: a fast path of the .*: expected choose\(pa",
        ),
        ("def configure(K: int)", "def configure(K: int, pulls: int = 3)", "py:18: policy .* 'pulls' is called like a"),
        (
            "SECONDS_PER_STEP = 1e-7",
            "SECONDS_PER_STEP = 'fast'",
            r"py:10: SECONDS_PER_STEP: expected a number .* 'fast'",
        ),
        ('"Least pulled"', '"DP-SE"', r"py:8: LABEL: expected one that no other .*bandit/dp_se.py has 'DP-SE'"),
        ("SECONDS_PER_STEP = 1e-7", "", r"least_pulled.py: SECONDS_PER_STEP: expected a literal"),
        ("def configure(K: int)", "def configure(K: int", r"least_pulled.py:\d+: not valid Python"),
    ],
)
def test_a_fault_in_a_policy_is_told_from_its_text(extension, old, new, said):
    assert old in POLICY
    extension("policies/bandit/least_pulled.py", POLICY.replace(old, new))
    refused(said)


def test_faults_of_private_modules_and_environments_are_told_too(extension):
    extension("policies/bandit/_pulled.py", PULLED.replace("np.argmin(pulls)", "np.random.choice(pulls)"))
    refused(r"mine_too/policies/bandit/_pulled.py:6: numpy.random.choice")
    extension("policies/bandit/_pulled.py", PULLED)
    text = "def pull(environment, arm, rng): ...\ndef configure(K: int):\n    return Environment(pull, K)\n"
    extension("environments/plain.py", text)
    with pytest.raises(PrivarmsError, match=r"environments/plain.py:1: pull has no @njit"):
        source_faults.check("environments", "plain")


def test_a_file_beside_the_audits_that_is_not_python_is_refused_whoever_uses_it(extension):
    extension("audits/counted.py", "def counted(K):\n    return K\n")
    planned()
    extension("audits/counted.py", "def counted(K:\n    return K\n")
    refused(r"mine_too/audits/counted.py:\d+: not valid Python")


def test_seeded_generators_and_annotations_are_no_fault(extension):
    seeded = "SEEDED = np.random.default_rng(3).random(4)\ndef f(rng: np.random.Generator): ...\n"
    extension("policies/bandit/least_pulled.py", POLICY + seeded)
    planned()
    extension("policies/bandit/least_pulled.py", POLICY + seeded.replace("3", ""))
    refused("numpy.random.default_rng")


def test_our_own_modules_are_compiled_where_it_is_asked_of_strangers():
    for name in library.names("policies"):
        for function in source_faults._compiled_by_protocols("policies", name):
            where, node = library.definition(library.source_file("policies", name), function)
            assert not isinstance(node, ast.FunctionDef) or source_faults._is_compiled(where, node), (name, function)


@pytest.mark.parametrize(
    ("folders", "said"),
    [
        (["nowhere"], "extensions: nowhere: no such folder"),
        (["my-own"], "extensions: my-own: expected a folder whose name has small letters"),
        (["empty"], "extensions: empty: expected one of the folders policies"),
        (["one/same", "two/same"], "two are called same"),
        (["typed"], "extensions: typed: policy/: nobody reads .*; call it policies/"),
        (["dashed"], "noisy-greedy.py: expected a name that a Python module can have.*to noisy_greedy.py"),
    ],
)
def test_a_folder_that_cannot_be_one_is_refused(tmp_path, monkeypatch, folders, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(library.EXTENSIONS_VARIABLE, "")
    for folder in (
        "my-own/policies",
        "empty",
        "one/same/policies",
        "two/same/studies",
        "typed/policy",
        "typed/studies",
    ):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "dashed/policies/bandit").mkdir(parents=True)
    (tmp_path / "dashed/policies/bandit/noisy-greedy.py").touch()
    with pytest.raises(PrivarmsError, match=said):
        library.extend(folders)
    assert os.environ[library.EXTENSIONS_VARIABLE] == ""


CONFIG = {"scale": "quick", "studies": str(ROOT / "config/studies"), "claims": str(ROOT / "config/claims")}


def test_a_study_needs_no_more_than_its_studies_and_gets_default_artifacts(extension):
    extension("studies/mine.yaml", "studies:\n  s: " + str(STUDY).replace("'", "") + "\n")
    found = plan.papers(CONFIG)
    assert list(found)[-1] == "mine"
    assert list(found["mine"]["studies"]) == ["s", "s_pulls"]
    assert set(found["mine"]["artifacts"]) == {"s", "s_over_time", "s_final", "s_pulls_pulls"}
    assert paths.folder(CONFIG, "studies", "mine") == "mine_too/studies"
    assert "year" not in found["mine"]


def test_a_paper_s_name_that_ours_has_is_refused(extension):
    extension("studies/sajed2019.yaml", "studies:\n  s: " + str(STUDY).replace("'", "") + "\n")
    with pytest.raises(PrivarmsError, match=r"mine_too/studies/sajed2019.yaml: paper: .*config/studies/sajed2019.yaml"):
        plan.papers(CONFIG)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("artifacts/sajed2019/figures.py", "mine_too/artifacts/sajed2019: sajed2019 is the paper of .*sajed2019.yaml"),
        ("claims/sajed2019.yaml", "claims/sajed2019.yaml: sajed2019 is the paper of"),
        ("published/sajed2019/table1.csv", "published/sajed2019: sajed2019 is the paper of"),
        ("studies/mine.yml", "mine_too/studies/mine.yml: expected the ending .yaml"),
        ("studies/my_study.yaml", "mine_too/studies/my_study.yaml: expected a name of small letters and digits alone"),
    ],
)
def test_files_in_place_of_ours_or_for_nobody_are_refused(extension, file, said):
    extension(file, "studies: {}\n")
    with pytest.raises(PrivarmsError, match=said):
        plan.papers(CONFIG)


def test_policies_are_added_to_a_study_and_faults_in_them_name_the_key(extension):
    papers = {"p": {"paper": "p", "studies": {"s": STUDY}}}
    added = additions.add(papers, CONFIG | {"add": {"p": {"s": [{"policy": "uniform"}, {"policy": "ucb9"}]}}})
    with pytest.raises(PrivarmsError, match=r"^--configfile or --config: add.p.s\[1\].policy: unknown name 'ucb9'"):
        cells.expand("p.yaml", "p", "s", added["p"]["studies"]["s"])
    assert "added" not in papers["p"]["studies"]["s"]
    for wrong, said in (
        ({"q": {"s": [{"policy": "ucb1"}]}}, "add.q: unknown paper; expected one of p"),
        ({"p": {"r": [{"policy": "ucb1"}]}}, "add.p.r: unknown study; expected one of s"),
        ({"p": {"s": [{"policy": "ucb1", "replicates": 0}]}}, r"add.p.s\[0\]: replicates: expected"),
    ):
        with pytest.raises(PrivarmsError, match=said):
            additions.add(papers, CONFIG | {"add": wrong})


def test_contracts_hold_for_extensions_as_for_us(extension):
    with pytest.raises(PrivarmsError, match="is of the family bandit, and the protocol linear runs the family linear"):
        contract.check("p.yaml: k", "least_pulled", "linear", "linear")
