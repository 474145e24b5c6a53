"""An extension's faults while it runs: one message with file and line, no array left, no other number of a result."""

import numba
import numpy as np
import pytest

from privarms.errors import PrivarmsError
from privarms.protocols import bandit
from privarms.protocols._checks import ArmError, NotFiniteError, refuse_not_finite
from privarms.studies import cells, cost, library, run, strangers
from privarms.studies.shards import Piece

from .test_extensions import POLICY, PULLED, STUDY, extension  # noqa: F401

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


@pytest.fixture
def try_out(extension, monkeypatch):  # noqa: F811
    """try_out(old, new): run the policy with a part of its text replaced, one shard's job in this process."""
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    monkeypatch.setattr(strangers, "_seen", {})
    monkeypatch.setattr(strangers, "_looked_at", set())

    def run_it(old="", new="", **changes):
        # A name of its own: a module is imported once a process.
        name = f"tried_{abs(hash((old, new))) % 10**9}"
        assert old in POLICY
        extension(f"policies/bandit/{name}.py", POLICY.replace(old, new, 1) if old else POLICY)
        study = STUDY | {"policies": [{"policy": name}]} | changes
        (cell, *_) = cells.expand("p.yaml", "p", "s", study)
        return run.run_piece(Piece(cell, 0, 1), 3, {})

    extension("policies/bandit/_pulled.py", PULLED)
    return run_it


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return least(state.pulls)", "return t % 2 + 1", r"tried_\d+.py:26: .*gave arm 2 in round 1; expected 0 to 1"),
        ("return least(state.pulls)", "return -1", r"tried_\d+.py:26: .*gave arm -1 in round 1; expected 0 to 1"),
        ("return least(state.pulls)", "return 0.5", r"tried_\d+.py:26: choose gives float64; expected an arm"),
        ("return least(state.pulls)", "return least(state)", r"numba cannot compile choose: .*tried_\d+.py:27: "),
        ("state.pulls[arm] += 1", "state.pulls[arm + 7] += 1", r"tried_\d+.py: IndexError: .*correct the index"),
        (
            "    return state\n",
            "    return State(state.pulls * 0.5)\n",
            r"py:30: learn gives State\(pulls: float64\[1d\]\)",
        ),
        ("    return state\n", "    raise ValueError('no')\n", r"tried_\d+.py:32: ValueError: no"),
        ("import numpy as np", "import numpy as np\nimport nothing_of_this_name", r"py:4: ModuleNotFoundError"),
    ],
)
def test_a_fault_is_one_message_with_file_and_line(try_out, old, new, said):
    with pytest.raises(PrivarmsError, match=said) as error:
        try_out(old, new)
    assert str(error.value).startswith("p.yaml: studies.s: ")
    assert len(str(error.value).splitlines()) == 1


def test_a_reward_that_is_no_number_names_the_environment(try_out, extension):  # noqa: F811
    extension("environments/gaps.py", ENVIRONMENT)
    with pytest.raises(
        PrivarmsError, match=r"mine_too/environments/gaps.py: tried_\d+ on gaps: reward is not a finite"
    ):
        try_out(environment={"name": "gaps"}, horizon=60)


def test_nothing_of_it_is_seen_in_the_results(try_out, monkeypatch):
    first = try_out(horizon=300)
    monkeypatch.setattr(strangers, "look", lambda *a: None)
    monkeypatch.setattr(strangers, "check_bounds", lambda: None)
    assert first.equals(try_out(horizon=300))


def test_arms_and_numbers_are_checked_by_the_loop_itself():
    policy = library.load("policies", "uniform")
    environment = library.load("environments", "bernoulli").configure(K=2, top=0.9, bottom=0.1)
    with pytest.raises(ArmError, match="gave arm 2 in round"):
        bandit.play.py_func(
            policy.POLICY,
            policy.configure(K=3),
            environment,
            np.array([50]),
            np.random.default_rng(0),
            bandit.new_record(1, 2),
        )
    refuse_not_finite(regret=np.zeros(3))
    with pytest.raises(NotFiniteError, match="reward is not a finite number"):
        refuse_not_finite(regret=np.zeros(3), reward=np.array([1, np.nan]))


def test_values_that_compile_anew_are_warned_of(try_out, capsys):
    try_out("return Params(int(K))", "return Params(K)")
    (cell,) = cells.expand("p.yaml", "p", "s", STUDY)
    strangers._warn_of_new_types(cell, (1, 2))
    assert capsys.readouterr().err == ""
    strangers._warn_of_new_types(cell, (1.0, 2))
    said = capsys.readouterr().err
    assert "least_pulled.py:18: other values compile least_pulled anew" in said


def test_runs_of_days_are_warned_of(extension, monkeypatch):  # noqa: F811
    (cell,) = cells.expand("p.yaml", "p", "s", STUDY)
    assert list(cost.warnings(cell, 1e-5)) == []
    cost_of = list(cost.warnings(cell, 100.0))
    assert cost_of == [
        "least_pulled: a run of 10 rounds takes about 1.7 minutes, and its module says 11 microseconds; set "
        "SECONDS_PER_STEP = 1e+01, so that jobs are of the right size"
    ]
    monkeypatch.setenv(cost.VARIABLE, '{"least_pulled": [30, 1500000000]}')
    assert any("30 runs of it, which would take about 1.7e+02 days" in said for said in cost.warnings(cell, 0.1))
