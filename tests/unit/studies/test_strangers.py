"""An extension's faults while it runs: one message with file and line, no array left, no other number of a result."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest

from privarms.errors import PrivarmsError
from privarms.policies import Policy
from privarms.protocols import bandit
from privarms.protocols._checks import (
    ArmError,
    Checked,
    NotFiniteError,
    RecordError,
    admit,
    refuse_impossible,
    refuse_not_finite,
)
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

# Parameters with an array, which a fault may change.
WITH_ARRAY = (("    n_arms: int\n", "    n_arms: int\n    n: np.ndarray\n"), ("int(K))", "int(K), np.zeros(1))"))


@pytest.fixture
def try_out(extension, monkeypatch):  # noqa: F811
    """try_out(old, new): run the policy with a part of its text replaced, one shard's job in this process."""
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    monkeypatch.setattr(strangers, "_seen", {})
    monkeypatch.setattr(strangers, "_looked_at", {})

    def run_it(old="", new="", also=(), **changes):
        # A name of its own: a module is imported once a process.
        name = f"tried_{abs(hash((old, new))) % 10**9}"
        text = POLICY.replace("Least pulled", name)
        for one, other in ((old, new), *also):
            assert one in text
            text = text.replace(one, other, 1) if one else text
        extension(f"policies/bandit/{name}.py", text)
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
        ("return least(state.pulls)", "return t % 2 == 0", r"tried_\d+.py:26: choose gives bool; expected an arm"),
        # The line is found by the same run without numba.
        (
            "state.pulls[arm] += 1",
            "state.pulls[arm + 7] += 1",
            r"tried_\d+.py:31: IndexError: index \d is out of bounds",
        ),
        (
            "    return state\n",
            "    if t > 3:\n        return state\n",
            "py:30: learn gives .* on some paths and None on",
        ),
        (
            "    return state\n",
            "    p = params.n\n    p[0] += 1\n    return state\n",
            r"py:31: .*: params.n changed in a run",
        ),
        ("    return Params(int(K))", "    raise SystemExit(0)", r"py:19: SystemExit: 0"),
        (
            "    return state\n",
            "    return State(state.pulls * 0.5)\n",
            r"py:30: learn gives State\(pulls: float64\[1d\]\)",
        ),
        (
            "    return state\n",
            "    if t > 2:\n        raise ValueError('no')\n    return state\n",
            r"py:33: ValueError: no",
        ),
    ],
)
def test_a_fault_is_one_message_with_file_and_line(try_out, old, new, said):
    with pytest.raises(PrivarmsError, match=said) as error:
        try_out(old, new, also=WITH_ARRAY if "params.n" in new else ())
    assert str(error.value).startswith("p.yaml: studies.s: ")
    assert len(str(error.value).splitlines()) == 1


def test_rewards_that_are_no_numbers_name_the_environment(try_out, extension):  # noqa: F811
    extension("environments/gaps.py", ENVIRONMENT)
    with pytest.raises(PrivarmsError, match=r"mine_too/environments/gaps.py:11: arm 0: expected that its mean and all"):
        try_out(environment={"name": "gaps"}, horizon=60)
    extension("environments/rare_gaps.py", ENVIRONMENT.replace("< 0.5", "< 0.0005"))
    with pytest.raises(PrivarmsError, match=r"rare_gaps.py:11: tried_\d+ on rare_gaps: reward is not a finite"):
        try_out(environment={"name": "rare_gaps"}, horizon=20_000)


def test_nothing_of_it_is_seen_in_the_results(try_out, monkeypatch):
    first = try_out(horizon=300)
    monkeypatch.setattr(strangers, "look", lambda *a: {})
    monkeypatch.setattr(strangers, "check_bounds", lambda: None)
    assert first.equals(try_out(horizon=300))


def test_arms_of_strangers_are_checked_by_the_loop_itself_and_ours_cost_nothing():
    policy = library.load("policies", "uniform")
    environment = library.load("environments", "bernoulli").configure(K=2, top=0.9, bottom=0.1)
    for play in (bandit.play, bandit.play.py_func):
        with pytest.raises(ArmError, match="gave arm 2 in round"):
            play(
                Checked(*policy.POLICY),
                policy.configure(K=3),
                environment,
                np.array([50]),
                np.random.default_rng(0),
                bandit.new_record(1, 2),
            )

    @numba.njit
    def tried(policy, arm):
        admit(policy, arm, 2, 1)

    tried(Policy(*policy.POLICY), 7)
    with pytest.raises(ArmError, match="gave arm -1 in round 1; expected 0 to 1"):
        tried(Checked(*policy.POLICY), -1)
    for kind, checks in ((Policy, False), (Checked, True)):
        signature = next(s for s in tried.signatures if s[0].instance_class is kind)
        assert ("icmp" in tried.inspect_llvm(signature).split("define ")[1]) is checks


def test_numbers_that_are_none_are_refused():
    refuse_not_finite(regret=np.zeros(3))
    with pytest.raises(NotFiniteError, match="reward is not a finite number"):
        refuse_not_finite(regret=np.zeros(3), reward=np.array([1, np.nan]))


def test_what_no_run_leaves_is_refused_of_a_fast_path():
    means, checkpoints = np.array([0.5, 0.2]), np.array([10, 100])
    regret, pulls = np.array([[3.0, 12.0]]), np.array([[60, 40]])
    refuse_impossible(means, checkpoints, regret, pulls)
    for wrong_regret, wrong_pulls, said in (
        (regret, pulls + 1, "add up to the horizon, 100"),
        (regret, np.array([[140, -40]]), "add up"),
        (np.array([[3.0, 2.0]]), pulls, "grows from each checkpoint"),
        (np.array([[4.0, 12.0]]), pulls, "grows from each checkpoint"),
        (np.array([[3.0, 13.0]]), pulls, "sum of pulls times gaps"),
    ):
        with pytest.raises(RecordError, match=said):
            refuse_impossible(means, checkpoints, wrong_regret, wrong_pulls)


def test_runs_that_cannot_be_repeated_are_refused(try_out):
    calls = "CALLS = [0]\n\ndef configure(K: int) -> Params:\n    CALLS[0] += 1\n"
    with pytest.raises(PrivarmsError, match=r"py:\d+: configure gives another params.n_arms for the same values"):
        try_out(
            "def configure(K: int) -> Params:\n", calls, also=[("Params(int(K))", "Params(int(K) - CALLS[0] // 2)")]
        )


def test_params_have_what_their_protocol_reads(extension):  # noqa: F811
    extension("policies/bandit/bare.py", POLICY.replace("Least pulled", "Bare"))
    (cell, *_) = cells.expand("p.yaml", "p", "s", STUDY | {"policies": [{"policy": "bare"}]})
    strangers._check_params(cell, object())
    with pytest.raises(PrivarmsError, match=r"bare.py:\d+: configure gives no R; the protocol stopping reads R of "):
        strangers._check_params(replace(cell, protocol="stopping"), object())


def test_an_environment_has_what_its_protocol_needs(extension):  # noqa: F811
    (cell,) = cells.expand("p.yaml", "p", "s", STUDY)
    extension("environments/gaps.py", ENVIRONMENT)
    cell = replace(cell, environment="gaps")
    given = library.load("environments", "gaps").configure(K=2)
    rewards = given._replace(pull=lambda environment, arm, rng: 0.5)
    strangers._check_environment(cell, rewards)
    for wrong, said in (
        (Policy(1, 2, 3), r"gaps.py:14: configure gives no pull; .* needs pull\(environment, arm, rng\)"),
        (
            rewards._replace(means=[0.5]),
            r"gaps.py:14: configure gives means of type list; expected means: float64\[K\]",
        ),
        (rewards._replace(means=np.zeros((2, 2))), r"of type float64\[2d\]"),
        (rewards._replace(pull=lambda arm, rng: 0.5), r"expected pull\(environment, arm, rng\)"),
        (
            rewards._replace(pull=lambda environment, arm, rng: None),
            "gaps.py:11: pull gives NoneType; expected a reward",
        ),
        (rewards._replace(pull=lambda environment, arm, rng: np.inf), "gaps.py:11: arm 0: expected .* finite"),
    ):
        with pytest.raises(PrivarmsError, match=said):
            strangers._check_environment(cell, wrong)


def test_who_waits_speaks_when_it_takes_long_and_when_the_process_dies(extension):  # noqa: F811
    command = [sys.executable, "-I", "-S", str(Path(strangers.__file__).with_name("_waiting.py"))]
    work = {"slow": "slow\n", "died": "died\n"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as waits:
        waits.stdin.write(json.dumps({**work, "seconds": 60}).encode() + b"\n\n")
        waits.stdin.write(json.dumps({**work, "seconds": 0.01}).encode() + b"\n")
        assert waits.stderr.readline() == b"slow\n"
        waits.stdin.close()
        assert waits.stderr.read() == b"died\n"
    done = subprocess.run(command, input=json.dumps(work | {"seconds": 60}) + "\n\n", capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")

    program = f"""
import os, signal
from privarms.studies import cells, strangers
(cell,) = cells.expand("p.yaml", "p", "s", {STUDY!r})
with strangers.waited_for(cell, 60):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    where = "mine_too/policies/bandit/least_pulled.py: least_pulled on bernoulli"
    assert done.stderr.startswith(f"error: {where} ended its process without an error")


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
        "mine_too/policies/bandit/least_pulled.py:10: least_pulled: a run of 10 rounds takes about 1.7 minutes, and "
        "its module says 11 microseconds; set SECONDS_PER_STEP = 1e+01, so that jobs are of the right size"
    ]
    monkeypatch.setenv(cost.VARIABLE, '{"least_pulled": [30, 1500000000]}')
    assert any("30 runs of it, which would take about 174 days" in said for said in cost.warnings(cell, 0.1))
