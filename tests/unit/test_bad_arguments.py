"""Check that values outside a parameter's range are refused with the name of the parameter."""

import importlib
import inspect
import math
import pkgutil
import re
from typing import Literal, get_args, get_origin

import numba
import numpy as np
import pytest

from privarms import inference
from privarms.audits.reduction import epsilon_lower_bound
from privarms.errors import PrivarmsError
from privarms.inference import always_valid, max_information
from privarms.registry import library

NAN, INF = math.nan, math.inf
NO_BUDGET = [0.0, -1.0, INF, NAN]
SHIFT = {"dimensions": [0], "gamma": [-0.1], "kappa": [1.1, -0.1]}
FEATURES = {"M": [0], "smallest_gap": [0.6]}
BANDIT = {"K": 5, "horizon": 1000}
BATCHES = {"K": 2, "epsilon": 1.0}
EXPERIMENT = {"M": 2, "horizon": 100, "alpha": 0.5}
BAD_EXPERIMENT = {"M": [0], "horizon": [2], "alpha": [-0.1, 1.1, NAN]}
LINEAR = {"K": 4, "dimensions": 3}
BAD_LINEAR = {"K": [1], "dimensions": [0], "ridge": [0, INF], "beta": [0, 1, NAN]}
LDP_MAB = {"K": 3, "horizon": 1000, "epsilon": 1.0, "variant": "as_released"}
SGD = {"K": 3, "dimensions": 2, "source_users": [5, 3], "horizon": 60, "epsilon": 1.0}
STOPPING = {"epsilon": 1, "alpha": 0.5, "beta": 0.05}
BAD_STOPPING = {"epsilon": [0, INF], "alpha": [0, 1], "beta": [1], "R": [0], "noise": [0]}

# A configure function, valid arguments, and invalid values.
CONFIGURED = [
    (
        "bernoulli",
        {"K": 5, "top": 0.75, "bottom": 0.25},
        {"K": [1], "bottom": [0.8], "top": [1.1], "spacing": ["even"]},
    ),
    ("exponential", {"K": 3, "variant": "as_released"}, SHIFT | {"K": [1]}),
    ("symmetric", {"variant": "as_released"}, SHIFT),
    ("features_bernoulli", {"M": 2, "horizon": 100}, FEATURES | {"lower": [0.6]}),
    ("linear", LINEAR | {"variant": "as_printed"}, {"K": [1], "dimensions": [1]}),
    ("two_point", {"mu": 1, "R": 1}, {"mu": [0, 1.1], "R": [0]}),
    ("laplace", {"epsilon": 1.0}, {"epsilon": NO_BUDGET, "sensitivity": NO_BUDGET}),
    (
        "l2_ball",
        {"dimensions": 2, "radius": 1.0, "epsilon": 1.0},
        {"dimensions": [0], "radius": [0.0], "epsilon": [0.0, INF]},
    ),
    ("ucb1", {"K": 2}, {"K": [1]}),
    ("kl_ucb", {"K": 2}, {"K": [1]}),
    ("imed", {"K": 2}, {"K": [1]}),
    ("ucb", BANDIT, {"K": [1], "horizon": [4]}),
    ("ucb_constant_delta", BANDIT | {"delta": 0.9}, {"delta": [0, 1, 1.5, NAN]}),
    ("epoch_se", BANDIT, {"K": [1], "beta": [0.0, 1.0], "horizon": [1]}),
    (
        "dp_se",
        BANDIT | {"epsilon": 1.0},
        {"K": [1], "epsilon": NO_BUDGET, "beta": [0.0, 1.0], "noise": [0.0], "horizon": [1]},
    ),
    ("successive_elimination", BANDIT, {"K": [1], "beta": [0.0, 1.0], "c": [4.0], "horizon": [1]}),
    (
        "dp_ucb",
        BANDIT | {"epsilon": 1.0, "width": "chan"},
        {"epsilon": NO_BUDGET, "K": [1], "horizon": [4], "noise": [0], "width": ["wide"], "counter": [""]},
    ),
    (
        "private_ucb",
        BANDIT | {"epsilon": 1, "variant": "as_printed"},
        {"epsilon": [0, INF, 1e-310], "variant": ["printed"]},
    ),
    ("private_ucb_noise_only", BANDIT | {"epsilon": 1, "variant": "as_printed"}, {"epsilon": [-1]}),
    ("private_ucb_gamma_only", BANDIT | {"epsilon": 1}, {"epsilon": [NAN]}),
    ("adap_ucb", BATCHES, {"K": [1], "alpha": [0], "noise": [0]}),
    ("adap_klucb", BATCHES, {"epsilon": [0.0]}),
    ("dp_klucb", BATCHES, {"ratio": [1], "noise": [-1]}),
    ("dp_imed", BATCHES, {"first": [-1], "epsilon": [INF]}),
    (
        "absse",
        {"K": 2, "horizon": 100, "dimensions": 2},
        {"K": [1, 63], "horizon": [0], "dimensions": [0, 17], "smoothness": [0.0, 1.5], "lipschitz": [0.0, NAN]},
    ),
    ("conse_se", EXPERIMENT, BAD_EXPERIMENT),
    ("conse_exp3e", EXPERIMENT, BAD_EXPERIMENT | {"C": [0.0, -1.0, INF]}),
    ("dp_conse", EXPERIMENT | {"epsilon": 0.5}, BAD_EXPERIMENT | {"epsilon": NO_BUDGET, "noise": [0.0, INF]}),
    ("dp_conse_total", EXPERIMENT | {"epsilon": 0.5}, BAD_EXPERIMENT | {"epsilon": NO_BUDGET}),
    ("oful", LINEAR, BAD_LINEAR),
    ("linear_ucb_as_released", LINEAR, BAD_LINEAR),
    (
        "private_linear_ucb",
        LINEAR | {"horizon": 150, "epsilon": 1.0},
        BAD_LINEAR | {"horizon": [0], "epsilon": [0, -1, INF], "clip": [0, NAN]},
    ),
    (
        "ldp_mab",
        LDP_MAB,
        {"K": [1], "horizon": [0, 99], "n_aux": [50, -1], "M": [-1], "epsilon": [*NO_BUDGET, 1e-3]}
        | {"epsilon_aux": [0.0, "2 -8", "2 8 2", "2,8"], "dimensions": [0], "batch": [0], "c": [0.0]}
        | {"deviation": ["noise else"]},
    ),
    ("ldp_mab", LDP_MAB | {"batch": 5}, {"deviation": ["batch"]}),
    (
        "ldp_linear",
        SGD,
        {"K": [1], "dimensions": [0], "batch": [0], "rate": [0.0], "clip": [INF], "epsilon": [0.0]}
        | {"epsilon_aux": ["1 2 3"]},
    ),
    ("dp_nas", STOPPING, BAD_STOPPING),
    ("dp_exponential_nas", STOPPING, BAD_STOPPING),
]

COUNTS = {"alpha": 0.05, "epsilon": 0.1, "horizon": 500, "beta": 0.01, "p": 0.5, "pulls": 10}
BAD_COUNTS = {
    "alpha": [0.0, 1.0, NAN],
    "beta": [0.0, 1.0, -1.0, [0.01, NAN]],
    "epsilon": NO_BUDGET,
    "horizon": [0, 0.5, NAN],
    "pulls": [0, NAN],
    "p": [-0.1, 1.1, NAN],
}
TAKES = {
    max_information.max_information_nats: ("epsilon", "horizon", "beta"),
    max_information.log_corrected_level: ("alpha", "epsilon", "horizon", "beta"),
    max_information.corrected_level: ("alpha", "epsilon", "horizon", "beta"),
    max_information.best_beta: ("epsilon", "horizon", "alpha"),
    max_information.corrected_p_value: ("p", "epsilon", "horizon", "beta"),
    max_information.printed_level: ("alpha", "epsilon", "horizon", "beta"),
    max_information.released_level: ("alpha", "epsilon", "pulls"),
}
CALLED = [
    (function, {name: COUNTS[name] for name in names}, {name: BAD_COUNTS[name] for name in names})
    for function, names in TAKES.items()
]
CALLED += [(always_valid.log_e_value, {"successes": 1, "pulls": 2, "mean": 0.5}, {"mean": [-0.1, 1.1, NAN]})]
# These two arguments are checked together.
TOGETHER = {"smallest_gap": "gaps", "bottom": "0 <= bottom", "top": "0 <= bottom"}


def refused(function, good, bad):
    function(**good)
    for name, values in bad.items():
        for value in values:
            with pytest.raises(ValueError, match=f"^(expected )?{TOGETHER.get(name, name)}"):
                function(**good | {name: value})


@pytest.mark.parametrize(("name", "good", "bad"), CONFIGURED)
def test_a_parameter_out_of_range_is_refused_by_name(name, good, bad):
    (kind,) = (kind for kind in ("environments", "mechanisms", "policies") if name in library.names(kind))
    refused(library.load(kind, name).configure, good, bad)


@pytest.mark.parametrize(("function", "good", "bad"), CALLED, ids=lambda one: getattr(one, "__name__", ""))
def test_an_argument_out_of_range_is_refused_by_name(function, good, bad):
    refused(function, good, bad)


def configured_by_words():
    """Yield the `configure` of environments, mechanisms and policies, and an argument with a `Literal` annotation.

    The inputs of audits are left out: only studies pass them, and their configuration is checked.
    """
    for kind in ("environments", "mechanisms", "policies"):
        for module in (library.load(kind, name) for name in library.names(kind)):
            if hasattr(module, "configure") and not module.__name__.startswith("privarms.audits."):
                for argument in words(module.configure):
                    yield pytest.param(module.configure, argument, id=f"{module.__name__}.{argument}")


def words(function) -> dict:
    """Return each argument with a `Literal` annotation and its first choice."""
    hints = {name: parameter.annotation for name, parameter in inspect.signature(function).parameters.items()}
    return {name: get_args(hint)[0] for name, hint in hints.items() if get_origin(hint) is Literal}


@pytest.mark.parametrize(("configure", "argument"), list(configured_by_words()))
def test_a_word_outside_the_choices_of_a_parameter_is_refused(configure, argument):
    call = dict.fromkeys(inspect.signature(configure).parameters) | words(configure)
    with pytest.raises(ValueError, match=rf"^{argument}: expected one of .*found 'no such word'"):
        configure(**call | {argument: "no such word"})


# One valid call of every public function of `privarms.inference`.
ONE_OF_TWO = {"successes": 1, "pulls": 2}
RUNS = {"pulls": [[2, 4], [1, 5]], "reward_sums": [[1.0, 4.0], [1.0, 2.5]], "means": [0.5, 0.75]}
TRIAL = {"arms": [1, 0, 1, 0], "rewards": [4.0, 1.0, 2.0, 3.0]}
RIDGE = TRIAL | {"vectors": [[1.0, 0.5], [1.0, 0.0]], "penalty": 1.0}
MEANS = {"mean": 6.0, "base_mean": 3.0}
ESTIMATES = {"estimate": [0.1, 0.3, 0.2], "effect": 0.2, "variance": 0.01}
LEVEL = {"alpha": 0.05, "epsilon": 0.1, "horizon": 500, "beta": 0.01}
PAIRS = {"ours": [1.0, 3.0, 2.0], "others": [2.0, 2.0, 1.0]}
HISTORY = "a file with a history"
VALID = {
    "always_valid.log_e_value": ONE_OF_TWO | {"mean": 0.5},
    "always_valid.confidence_sequence": ONE_OF_TWO | {"alpha": 0.05},
    "atoms.atoms": {"values": [1.0, 2.0], "tolerance": 1e-9},
    "bias.sample_mean_bias": RUNS,
    "bias.controlled_bias": RUNS,
    "bias.blocks": {"replicates": 3},
    "bias.average_absolute_bias": RUNS,
    "bias.expected_average": RUNS | {"runs": 2},
    "bias.bias_bound": {"epsilon": 0.1, "mu": 0.5},
    "binomial_test.randomised_p_value": ONE_OF_TWO | {"mean": 0.5, "u": 0.3, "alternative": "less"},
    "binomial_test.p_value": ONE_OF_TWO | {"mean": 0.5},
    "correction.correct": {
        "history": HISTORY,
        "epsilon": 0.1,
        "null": 0.5,
        "level": 0.05,
        "beta": 0.01,
        "K": 2,
        "arm": 0,
    },
    "correction.described": {},
    "divergences.kl": {"x": 0.4, "y": 0.5},
    "divergences.d_epsilon": {"x": 0.4, "y": 0.5, "epsilon": 1.0},
    "divergences.kl_upper": {"x": 0.4, "level": 0.1},
    "divergences.d_epsilon_upper": {"x": 0.4, "level": 0.1, "epsilon": 1.0},
    "fixed_pulls.log_p_value": ONE_OF_TWO | {"mean": 0.5},
    "fixed_pulls.exact_interval": ONE_OF_TWO | {"alpha": 0.05},
    "fixed_pulls.chernoff_interval": ONE_OF_TWO | {"log_alpha": -3.0},
    "fixed_pulls.wilson_interval": ONE_OF_TWO | {"alpha": 0.05},
    "fixed_pulls.newcombe_interval": ONE_OF_TWO | {"other_successes": 1, "other_pulls": 3, "alpha": 0.05},
    "fixed_pulls.difference_interval": {"first": (0.4, 0.6), "other": (0.1, 0.3)},
    "fixed_pulls.kl_interval": {"share": 0.4, "level": 0.1},
    "histories.least_pulled": {"pulls": [3, 1], "ties": [0.1, 0.2]},
    "histories.most_pulled": {"pulls": [[3, 1]], "ties": [[0.1, 0.2]]},
    "histories.read_history": {"path": HISTORY, "K": 2},
    "histories.read_totals": {"path": HISTORY, "K": 2},
    "intervals.normal_interval": {"estimate": [1.0, 2.0], "standard_error": 2.0, "confidence": 0.9},
    "intervals.ratio": MEANS | {"se": 0.3, "base_se": 0.36},
    "intervals.fieller": MEANS | {"half": 0.5, "base_half": 0.4},
    "laplace_sums.log_miss_bound": {"c": 40.0, "n": 100, "K": 3, "bins": 4},
    "lower_bounds.lai_robbins": {"means": [0.75, 0.5]},
    "lower_bounds.azize_basu": {"means": [0.75, 0.5], "epsilon": 0.1},
    "lower_bounds.azize": {"means": (0.75, 0.5), "epsilon": 0.1},
    "max_information.max_information_nats": {"epsilon": [0.1], "horizon": 500, "beta": 0.01},
    "max_information.log_corrected_level": LEVEL,
    "max_information.corrected_level": LEVEL,
    "max_information.best_beta": {"epsilon": 0.1, "horizon": 500, "alpha": 0.05},
    "max_information.corrected_p_value": {"p": 0.5, "epsilon": 0.1, "horizon": 500, "beta": 0.01},
    "max_information.printed_level": LEVEL,
    "max_information.released_level": {"alpha": 0.05, "epsilon": 0.1, "pulls": [10, 20]},
    "max_information.response_rejections": {"level": 0.1, "epsilon": 0.7, "horizon": 5},
    "mean_difference.variance": {"T": 100, "variance_0": 0.1, "variance_1": 0.2, "epsilon": 0.2}
    | {"interval": "corrected_laplace"},
    "mean_difference.coverage": ESTIMATES | {"confidence": 0.9},
    "mean_difference.variance_ratio": ESTIMATES,
    "mean_difference.standardised": ESTIMATES,
    "mean_difference.normality": ESTIMATES,
    "mean_difference.inverse_propensity_variance": {"T": 4, "means": [0.3, 0.7], "variances": [0.21, 0.21]},
    "mean_difference.relative_bias": {"T": 5.9, "epsilon": 1.0},
    "mean_difference.private_variance": {"T": 9.9, "variance_0": 0.21, "variance_1": 0.24, "epsilon": 1.0},
    "paired.wilcoxon_p_value": PAIRS,
    "paired.holm": {"p_values": [0.01, 0.04]},
    "paired.ratio_of_means": PAIRS | {"rng": np.random.default_rng(1), "resamples": 20, "level": 0.9},
    "propensity.mean_difference": TRIAL,
    "propensity.inverse_propensity": TRIAL | {"propensity": 0.5},
    "propensity.half_sample": TRIAL | {"propensity": 0.5},
    "propensity.cross_fitted": TRIAL | {"propensity": 0.5},
    "propensity.plug_in_ridge": RIDGE,
    "propensity.ridge": RIDGE,
    "proportions.clopper_pearson": {"events": [1, 2], "trials": [2, 3], "confidence": 0.9},
    "regression.ols_from_moments": {"gram": [[2.0, 0.0], [0.0, 1.0]], "moments": [1.0, 2.0]},
    "regression.z_score": {"estimate": 0.3, "null": 0.1, "variance": 0.04, "standard_error": "correct"},
    "regression.two_sided_p_value": {"z": [1.0, 2.0]},
    "rows.as_frame": {},
    "transfer_rates.regret_rate": {"n": 100, "epsilon": 1.0, "K": 2, "d": 1, "beta": 1.0}
    | {"sources": [(10, 1.0, 0.0, 1.0)]},
    "reduction.epsilon_lower_bound": {"events": 1, "trials": 4, "neighbour_events": 2, "neighbour_trials": 3}
    | {"confidence": 0.9},
}
# Arguments that are whole numbers.
WHOLE = {"successes", "pulls", "other_successes", "other_pulls", "events", "trials", "neighbour_events"}
WHOLE |= {"neighbour_trials", "horizon", "runs", "replicates", "resamples", "K", "d", "bins", "arms", "arm"}
# Values that a function takes: nan for a missing number, inf for no bound.
TAKEN = {
    "normal_interval": {"estimate": [NAN], "standard_error": [NAN]},
    "ratio": {"mean": [NAN], "se": [NAN], "base_mean": [NAN], "base_se": [NAN]},
    "fieller": {"mean": [NAN], "half": [NAN, INF], "base_mean": [NAN], "base_half": [NAN, INF]},
    "chernoff_interval": {"log_alpha": [-INF]},
    "kl_interval": {"level": [INF]},
    "kl_upper": {"level": [INF]},
    "d_epsilon": {"epsilon": [INF]},
    "d_epsilon_upper": {"level": [INF], "epsilon": [INF]},
    "two_sided_p_value": {"z": [INF, -INF]},
    "variance": {"epsilon": [INF]},
    "relative_bias": {"epsilon": [INF]},
    "private_variance": {"epsilon": [INF]},
    **{name: {"estimate": [NAN]} for name in ("coverage", "variance_ratio", "standardised", "normality")},
}
# Names in messages about the parts of an argument.
PARTS = {"sources": "(n_Q|epsilon_m|gamma|kappa)"}


def public_functions() -> dict:
    """Return the functions of the modules of `inference`, compiled ones included."""
    modules = [importlib.import_module(m.name) for m in pkgutil.iter_modules(inference.__path__, "privarms.inference.")]
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if callable(value)
        and not isinstance(value, type)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    }


FUNCTIONS = public_functions() | {"reduction.epsilon_lower_bound": epsilon_lower_bound}


@pytest.fixture
def valid(tmp_path):
    """Return the valid call of a function, by name."""
    file = tmp_path / "history.csv"
    file.write_text("arm,reward\n0,1\n1,0\n0,1\n")
    return lambda name: {key: file if value is HISTORY else value for key, value in VALID[name].items()}


def of_numbers(call: dict) -> list:
    """Return the names of arguments that are numbers or arrays of them."""
    return [name for name, value in call.items() if np.asarray(value).dtype.kind in "if"]


def replaced(value, by):
    """Return a number, or an array with its last number, replaced."""
    numbers = np.array(value, object)
    numbers.flat[-1] = by
    return numbers.tolist()


def refused_by_name(name, call, argument, value):
    with pytest.raises((ValueError, PrivarmsError), match=rf"^[^:]*\b{PARTS.get(argument, argument)}\b[^:]*: "):
        FUNCTIONS[name](**call | {argument: value})


def test_every_public_function_of_inference_has_a_valid_call():
    assert set(VALID) == set(FUNCTIONS)


@pytest.mark.parametrize("name", VALID)
def test_numbers_outside_the_range_of_an_argument_are_refused_by_name(name, valid):
    call, taken = valid(name), TAKEN.get(name.rpartition(".")[2], {})
    if call:
        FUNCTIONS[name](**call)
    for argument in of_numbers(call):
        allowed = list(map(str, taken.get(argument, [])))
        for bad in (NAN, INF, -INF, *([0.5] if argument in WHOLE else [])):
            if str(bad) not in allowed:
                refused_by_name(name, call, argument, replaced(call[argument], bad))


@pytest.mark.parametrize("name", VALID)
def test_a_text_is_refused_by_the_name_of_the_argument(name, valid):
    call = valid(name)
    for argument in of_numbers(call):
        if name.startswith("divergences."):
            # These functions are compiled, so numba refuses the type.
            with pytest.raises(numba.TypingError):
                FUNCTIONS[name](**call | {argument: "many"})
        else:
            refused_by_name(name, call, argument, replaced(call[argument], "many"))
    for argument in words(FUNCTIONS[name]):
        refused_by_name(name, call, argument, "no such word")


@pytest.mark.parametrize("name", TAKEN)
def test_missing_and_infinite_numbers_that_a_function_takes_are_documented(name, valid):
    for full in (full for full in VALID if full.endswith(f".{name}")):
        function, call = FUNCTIONS[full], valid(full)
        for argument, values in TAKEN[name].items():
            for value in values:
                function(**call | {argument: replaced(call[argument], value)})
                documented = f"{function.__doc__} {inspect.getmodule(function).__doc__}"
                assert re.search(rf"\b{abs(value)}\b", documented), f"{full} takes {value} and does not say so"


@pytest.mark.parametrize("name", [name for name in VALID if "pulls" in VALID[name] and "successes" in VALID[name]])
def test_more_successes_than_pulls_are_refused(name):
    with pytest.raises(ValueError, match=r"^successes: expected at most pulls; found 6 of 5"):
        FUNCTIONS[name](**VALID[name] | {"successes": 6, "pulls": 5})
    with pytest.raises(ValueError, match=r"^successes: expected a shape that broadcasts with that of pulls"):
        FUNCTIONS[name](**VALID[name] | {"successes": [1, 2], "pulls": [5, 5, 5]})


@pytest.mark.parametrize("name", ["mean_difference", "inverse_propensity", "half_sample", "cross_fitted", "ridge"])
def test_one_reward_for_several_rounds_is_not_broadcast(name):
    with pytest.raises(ValueError, match=r"^rewards: expected the shape of arms, \(4,\); found \(1,\)"):
        FUNCTIONS[f"propensity.{name}"](**VALID[f"propensity.{name}"] | {"rewards": [1.0]})


@pytest.mark.parametrize("name", ["sample_mean_bias", "controlled_bias", "average_absolute_bias", "expected_average"])
@pytest.mark.parametrize("argument", ["reward_sums", "means"])
def test_tables_of_runs_with_different_shapes_are_refused(name, argument):
    with pytest.raises(ValueError, match=f"^{argument}: expected "):
        FUNCTIONS[f"bias.{name}"](**VALID[f"bias.{name}"] | {argument: RUNS[argument][:1]})
