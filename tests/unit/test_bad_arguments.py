"""Check that values outside a parameter's range are refused with the name of the parameter."""

import math

import pytest

from privarms.inference import always_valid, max_information
from privarms.studies import library

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
