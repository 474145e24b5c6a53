"""Check simulate, audit and compare with policies that are objects, such as the classes of a notebook."""

from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import matplotlib
import numba
import numpy as np
import pandas as pd
import pytest
from numba import njit

import privarms
from privarms.errors import PrivarmsError
from privarms.mechanisms.laplace import laplace
from privarms.policies.bandit import uniform
from privarms.registry import library

TWO_ARMS = {"K": 2, "top": 0.9, "bottom": 0.1, "horizon": 400, "replicates": 3, "checkpoints": 2}


class Params(NamedTuple):
    n_arms: int
    played: int


class State(NamedTuple):
    pulls: np.ndarray


def configure(K: int, played: int = 0) -> Params:
    return Params(K, played)


def init(params):
    return State(np.zeros(params.n_arms, np.int64))


def choose(params, state, context, t, rng):
    return params.played


def learn(params, state, context, arm, reward, t, rng):
    state.pulls[arm] += 1
    return state


PLAIN = {"init": init, "choose": choose, "learn": learn}
COMPILED = {name: njit(function) for name, function in PLAIN.items()}


def namespace(functions=PLAIN, **changes):
    return SimpleNamespace(**{"LABEL": "Always one arm", "configure": configure, **functions} | changes)


def of_class(functions=PLAIN, **changes):
    return type("OneArm", (), vars(namespace(functions, **changes)))


def of_module(functions=PLAIN, **changes):
    module = ModuleType("own.one_arm")
    vars(module).update(vars(namespace(functions, **changes)))
    return module


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    monkeypatch.setenv("PRIVARMS_EXTENSIONS", "")
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context():
        yield


@pytest.mark.parametrize("functions", [PLAIN, COMPILED], ids=["plain", "compiled"])
@pytest.mark.parametrize(("kind", "name"), [(of_class, "OneArm"), (of_module, "one_arm"), (namespace, None)])
def test_a_class_a_module_and_a_namespace_run(kind, name, functions):
    runs = privarms.simulate(kind(functions), name=name or "mine", played=[0, 1], **TWO_ARMS)
    assert set(runs["policy"]) == {name or "mine"}
    ends = runs[runs["t"] == 400].groupby("played")["regret"]
    # The gap of the second arm is .8.
    assert ends.mean().to_dict() == {0: 0, 1: pytest.approx(320)}
    if name:
        pd.testing.assert_frame_equal(runs, privarms.simulate(kind(functions), played=[0, 1], **TWO_ARMS))
    assert library.names("policies") == sorted(library._modules("policies"))


def test_the_name_selects_the_random_streams():
    class Copy:
        LABEL, configure, init = "Copy", uniform.configure, uniform.init
        choose, learn = uniform.choose, uniform.learn

    runs = {name: privarms.simulate(Copy, name=name, **TWO_ARMS)["regret"].tolist() for name in (None, "Copy", "other")}
    assert runs[None] == runs["Copy"] != runs["other"]
    # A module of the library is the policy of its name, with its fast paths and streams.
    by_name = privarms.simulate("uniform", **TWO_ARMS)
    pd.testing.assert_frame_equal(privarms.simulate(uniform, **TWO_ARMS), by_name)


def test_inherited_functions_count():
    class Other(of_class(COMPILED)):
        LABEL = "The other arm"

        def configure(K: int) -> Params:
            return Params(K, 1)

    assert privarms.simulate(Other, **TWO_ARMS)["regret"].max() == pytest.approx(320)


def test_a_curve_has_the_label():
    figure = privarms.compare([of_class(COMPILED), {"policy": namespace(LABEL="Mine"), "name": "mine"}], **TWO_ARMS)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Always one arm", "Mine"]
    assert privarms.compare(of_class(COMPILED), **TWO_ARMS).legends
    with pytest.raises(PrivarmsError, match=r"privarms.compare: two policies have the name 'OneArm'; give each"):
        privarms.compare([of_class(COMPILED), of_class(LABEL="Another")], **TWO_ARMS)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (namespace(), r"SimpleNamespace has no name, and the name selects the random streams; add name='...'"),
        (of_class(choose=lambda t: 0), r"test_policy_objects.py:\d+: expected choose\(params, .*; found choose\(t\)"),
        (of_class(learn=None), r"test_policy_objects.py: expected the function learn\(params, state,"),
        (of_class()(), r"test_policy_objects.py:\d+: expected init\(params\); found a method of an object; give the"),
        (type("Empty", (), {}), r"Empty: expected a function configure \(the family bandit"),
        (type("Blank", (), PLAIN | {"configure": configure}), r"test_policy_objects.py: expected LABEL"),
        (of_class(FAMILY="bandits"), r"OneArm: unknown FAMILY 'bandits'; expected one of bandit, context"),
        (type("uniform", (), {}), r"a policy of the library has the name 'uniform'.*add name='...'"),
        (of_class(choose=lambda params, state, context, t, rng: 5), r"test_policy_objects.py:\d+: OneArm on .*arm"),
        (of_class(init=njit(lambda params: params.other)), r"test_policy_objects.py:\d+: OneArm on .*cannot compile"),
        (of_class(init=lambda params: 1 // 0), r"test_policy_objects.py:\d+: OneArm on .*ZeroDivisionError"),
        (of_class(init=lambda params: State(np.full(2, np.nan))), r"OneArm on .*nan in 'pulls'"),
    ],
)
def test_a_fault_is_one_clear_error(policy, words):
    name = None if isinstance(policy, type | SimpleNamespace) else "OneArm"
    with pytest.raises(PrivarmsError, match=words):
        privarms.simulate(policy, name=name, **TWO_ARMS)


def test_unknown_options_are_clear_errors():
    with pytest.raises(PrivarmsError, match=r"unknown parameter 'width' for the policy OneArm .*played"):
        privarms.simulate(of_class(), width=1, **TWO_ARMS)
    with pytest.raises(PrivarmsError, match=r"name: expected none for a policy of a file; found 'mine'"):
        privarms.simulate("uniform", name="mine", **TWO_ARMS)


def test_messages_name_the_policy_instead_of_a_cell_of_a_notebook():
    names = vars(namespace())
    cell = "\nclass Own:\n    LABEL, configure, init, learn = LABEL, configure, init, learn\n    def choose(t): pass\n"
    exec(compile(cell, "/tmp/ipykernel_1/2.py", "exec"), names)
    with pytest.raises(PrivarmsError, match=r"policy: Own:4: expected choose\(params, .*; found choose\(t\)"):
        privarms.simulate(names["Own"], **TWO_ARMS)


def test_bounds_are_checked_and_numba_is_left_as_it_was(monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    outside = njit(lambda params, state, context, t, rng: state.pulls[7])
    with pytest.raises(PrivarmsError, match="index is out of bounds"):
        privarms.simulate(of_class(COMPILED, choose=outside), **TWO_ARMS)
    assert numba.config.BOUNDSCHECK is None


class Leaking:
    """Follow the leader of the first rewards, with a fifth of the noise; `played` is epsilon in thousandths."""

    LABEL = "Leaking"

    def configure(K: int, epsilon: float) -> Params:
        return Params(K, round(1000 * epsilon))

    @njit
    def init(params):
        return np.zeros(params.n_arms)

    @njit
    def choose(params, state, context, t, rng):
        return t - 1 if t <= params.n_arms else int(state.argmax())

    @njit
    def learn(params, state, context, arm, reward, t, rng):
        if t <= params.n_arms:
            state[arm] = reward + laplace(200 / params.played, rng)
        return state


def test_a_policy_without_enough_noise_is_caught():
    table = privarms.audit(Leaking, epsilon=1, trials=4_000)
    assert set(table["verdict"]) == {"not private as claimed"}
    assert set(table["subject"]) == {"Leaking"}
