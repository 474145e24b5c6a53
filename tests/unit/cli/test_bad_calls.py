"""Check that every wrong call from Python is one line: the function, the argument, what was expected and found."""

import math

import numpy as np
import pandas as pd
import pytest

import privarms
from privarms.errors import PrivarmsError

NAN, INF = math.nan, math.inf
SMALL = {"K": 2, "horizon": 10, "replicates": 2, "checkpoints": 1}
FRAME = pd.DataFrame({"a": [1, 2]})
MISSING = object()


def calls():
    """Yield the function, its arguments, and the text that the message must contain after the function's name."""

    def wrong(name, *values, expected, function="simulate", **others):
        for value, shown in values:
            yield function, others | {name: value}, f"{name}: expected {expected}; found {shown}"

    def shown(*values):
        return [(value, repr(value)) for value in values]

    folder = "a folder or a list of folders"
    objects = [(FRAME, "an object of the type DataFrame"), (np.sqrt, "an object of the type ufunc")]
    for function in ("simulate", "audit", "compare"):
        policy = {"policies" if function == "compare" else "policy": "dp_se"}
        budgets = shown(0, -1, NAN, INF, "1", None, True, 10**400)[:-1]
        yield from wrong("epsilon", *budgets, *objects, expected="a finite number above 0", function=function, **policy)
        yield from wrong("extension", *shown(3, True, {}, ""), expected=folder, function=function, **policy)
        yield from wrong("extension", ([None], "None"), (["a", 3], "3"), expected=folder, function=function, **policy)
        for one in ("gone", ["gone"], "file.txt", "empty"):
            expected = f"extension: {one if isinstance(one, str) else 'gone'}: expected a folder that contains one of "
            yield function, policy | {"extension": one}, expected
        yield function, policy | {"extension": "My-Bandits"}, "extension: My-Bandits: expected a name of lower-case"
        yield function, policy | {"name": "mine"}, "name: expected none for a policy of a file; found 'mine'"
    for function in ("simulate", "audit"):
        kinds = "a policy's name, or a class, module or namespace with LABEL"
        for value, text in (*shown(None, 3, True, ["dp_se"]), *objects):
            yield (
                function,
                {"policy": value},
                f"policy: expected {kinds}, configure and the family's functions; found {text}",
            )
        for value in ("dp_sse", "", "dp-se", "laplace"):
            text = (
                f"unknown policy {value!r}; expected one of absse, " if value else "policy: expected a name; found ''"
            )
            yield function, {"policy": value}, text
        yield function, {}, "missing a required argument: 'policy'; expected the arguments policy, "
    some = {"policy": "dp_se"}
    yield from wrong("epsilon", ([], "[]"), expected="at least one value", **some)
    yield from wrong("epsilon", ([1, 0], "0"), ((1, "1"), "'1'"), expected="a finite number above 0", **some)
    counts = "a whole number from 1 to 1,000,000,000,000,000"
    yield from wrong("horizon", *shown("10", 1.5, 0, -1, None, True, NAN, INF, 1e30), *objects, expected=counts, **some)
    yield from wrong("horizon", ([10, 2.5], "2.5"), expected=counts, **some)
    yield from wrong("horizon", ([], "[]"), expected="at least one value", **some)
    yield from wrong("horizon", (4, "4"), expected="at least the number of arms, K = 5", **some)
    yield from wrong("horizon", ([100, 9], "9"), expected="at least the number of arms, K = 10", K=[2, 10], **some)
    yield from wrong("replicates", *shown(1.5, 0, -1, None, "3", [5], True), expected=counts, **some)
    few = "a whole number from 1 to 1,000,000"
    yield from wrong("checkpoints", *shown(0, 1.5, None, "all", [10, 100], 10**7, True), expected=few, **some)
    seeds = "a whole number from 0"
    yield from wrong("seed", *shown(-1, 1.5, "a", None, [1, 2], NAN, True), expected=seeds, **some)
    arms = "a whole number from 2 to 1,000,000,000,000,000"
    yield from wrong("K", *shown(2.5, "3", 0, 1, None, True, NAN, {}), *objects, expected=arms, **some)
    yield from wrong("K", ((2, 1), "1"), (range(3), "0"), (np.array([2, 2.5]), "2.5"), expected=arms, **some)
    yield from wrong("K", ([], "[]"), (np.array([]), "[]"), ((), "[]"), expected="at least one value", **some)
    yield from wrong("K", (np.ones((2, 2)), "[1.0, 1.0]"), expected=arms, **some)
    yield from wrong("top", *shown(NAN, INF), expected="a finite number", **some)
    yield from wrong("top", *shown("1", True), expected="a value of type float", **some)
    yield from wrong(
        "top", *shown(None, {}), *objects, expected="a number, a text, True or False, or a list of them", **some
    )
    yield from wrong("spacing", *shown("even", 1), expected="one of linear, one_best, convex, concave", **some)
    for name, value in (("top", 1.5), ("bottom", 0.9)):
        yield "simulate", some | {name: value}, "environment bernoulli: expected 0 <= bottom <= top <= 1, found bottom"
    for name in ("environment", "protocol"):
        yield from wrong(name, *shown(3, "", ["bernoulli"]), *objects, expected="a name", **some)
        yield "simulate", some | {name: "bernouli"}, f"unknown {name} 'bernouli'; expected one of "
    yield from wrong("environment", *shown(None), expected="a name", **some)
    yield "simulate", some | {"protocol": "linear"}, "unknown protocol 'linear'; expected one of "
    yield "simulate", some | {"environment": "classification"}, "environment: classification needs a dataset"
    yield "simulate", some | {"environment": "linear"}, "dimensions: the environment linear needs this argument"
    unknown = "for the policy dp_se and the environment bernoulli; expected one of K, "
    for name in ("widht", "width", "epsilom", "n_arms", "panel", "tag", "trials"):
        yield "simulate", some | {name: 1}, f"unknown parameter {name!r} {unknown}"
    yield "simulate", {"policy": "dp_ucb"}, "width: the policy dp_ucb needs this argument, one of "
    yield "simulate", {"policy": "dp_ucb", "width": "exakt"}, "width: expected one of "
    changing = {"policy": "ucb1", "environment": "changing_bernoulli", "protocol": "changing_arms"}
    yield "simulate", changing, "top: the environment changing_bernoulli needs this argument; found none"
    whole = wrong("trials", *shown(0, -1, 2.5, "10", NAN, INF, [10], True, 1e30), *objects, expected=counts)
    yield from (("audit", some | given, text) for _, given, text in whole)
    yield from wrong("epsilon", *shown([0.1, 1]), expected="a finite number above 0", function="audit", **some)
    yield from wrong("thorough", *shown(1, "yes", None), expected="True or False", function="audit", **some)
    yield "audit", some | {"K": 2}, "got an unexpected keyword argument 'K'; expected the arguments policy, epsilon, "
    yield "audit", {"policy": "ucb1"}, "ucb1: it has no parameter epsilon, so it claims no privacy"
    for value in ([], (), pd.Series([], dtype=object)):
        yield "compare", {"policies": value}, "policies: expected at least one policy; found []"
    for value in ({}, [{}], [{"polcy": "dp_se"}], [{"policy": "dp_se", 1: 2}]):
        yield (
            "compare",
            {"policies": value},
            "policies: expected the key 'policy' and names of arguments in each mapping",
        )
    for value in (None, 3, [None], [3], [["dp_se"]], {"policy": None}):
        yield "compare", {"policies": value}, "policy: expected a policy's name, or a class, module"
    for value in ("d", "dp_sse", ["dp_se", "dp_sse"], {"policy": "dp_sse"}):
        yield "compare", {"policies": value}, "unknown policy 'd"
    yield "compare", {}, "missing a required argument: 'policies'"
    yield "compare", {"policies": "dp_se", "widht": 1}, f"unknown parameter 'widht' {unknown}"
    yield (
        "compare",
        {"policies": [{"policy": "dp_se", "K": 1}]},
        "K: expected a whole number from 2 to 1,000,000,000,000,000; found 1",
    )
    yield "compare", {"policies": "dp_se", "environment": None}, "environment: expected a name; found None"
    yield "compare", {"policies": "dp_se", "seed": -1}, "seed: expected a whole number from 0; found -1"
    history = {"history": "history.csv", "epsilon": 0.1}
    for value in (0, -1, NAN, INF, "1", None, [1], True, FRAME):
        yield "correct", history | {"epsilon": value}, "epsilon: expected "
    for name in ("null", "level", "beta"):
        for value in (0, 1, NAN, "a", [0.5]):
            yield "correct", history | {name: value}, f"{name}: expected "
    for value in (None, "a"):
        yield "correct", history | {"null": value}, "null: expected "
    for value in (0, 1.5, "2", [2], 1):
        yield "correct", history | {"K": value}, ""
    for value in (-1, 2, 1.5, "most", None, [0], True)[:4]:
        yield (
            "correct",
            history | {"arm": value},
            f"arm: expected a number from 0 to 1, most-pulled, least-pulled; found {value}",
        )
    yield "correct", history | {"history": "gone.csv"}, "gone.csv: no such file; expected a CSV file with the columns"
    for value in (None, 3, FRAME, []):
        yield "correct", history | {"history": value}, "history: expected "
    yield "correct", {"history": "history.csv"}, "missing a required argument: 'epsilon'"
    yield "correct", history | {"alpha": 0.05}, "got an unexpected keyword argument 'alpha'; expected the arguments"


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRIVARMS_EXTENSIONS", "")
    (tmp_path / "file.txt").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "My-Bandits/policies").mkdir(parents=True)
    (tmp_path / "history.csv").write_text("arm,reward\n" + "0,1\n1,0\n" * 20)


@pytest.mark.parametrize(("function", "given", "text"), list(calls()))
def test_a_wrong_call_is_one_line_that_names_the_argument(function, given, text):
    small = {"simulate": SMALL, "compare": SMALL}.get(function, {})
    small = {name: value for name, value in small.items() if name not in ("K", "horizon") or "horizon" not in given}
    with pytest.raises(PrivarmsError) as caught:
        getattr(privarms, function)(**small | given)
    message = str(caught.value)
    assert message.startswith(f"privarms.{function}: {text}")
    assert "\n" not in message
    assert "interactive" not in message
    assert "studies" not in message
