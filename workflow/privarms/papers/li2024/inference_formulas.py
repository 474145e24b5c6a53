"""Values of the paper's formulas, for cells; nothing is simulated."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from privarms.inference import mean_difference
from privarms.inference.rows import as_frame
from privarms.mechanisms import lap_plus as mechanism
from privarms.planning.results import Results
from privarms.policies.experiment import conse_exp3e, conse_se, dp_conse
from privarms.registry.artifacts import inference
from privarms.registry.modules import PolicyModule


def gaps_of(environment) -> np.ndarray:
    """Return float64[M], the gap of each feature, rounded to 12 decimals."""
    return np.round(np.abs(environment.means[:, 1] - environment.means[:, 0]), 12)


def least_count(environment, parts: int = 2) -> float:
    """Return the expected patients of the rarest feature in the first half (parts 2) or in all (parts 1)."""
    own = environment.ends <= environment.ends[-1] // parts
    lengths = np.diff(environment.ends, prepend=0)[own]
    return float((lengths @ environment.probabilities[own]).min())


def expected_T_min(environment, n: int, alpha: float, epsilon: float, total: bool = False) -> float:
    """Return T_min at the expected count of the rarest feature; epsilon nan without privacy, nan for alpha nan.

    total: whether epsilon is the budget of the whole experiment
    """
    if math.isnan(alpha):
        return math.nan
    least = 16 * math.log(8 * n) if total else math.log(n)
    least /= 1 if math.isnan(epsilon) else epsilon
    return max(least, least_count(environment) ** (1 - alpha))


def printed_order(environment, n: int, alpha: float, epsilon: float) -> float:
    """Return max{f_min(n)^(1 - alpha), log n}, with log n / epsilon under privacy; f_min over all n patients, as
    printed."""
    least = math.log(n) / (1 if math.isnan(epsilon) else epsilon)
    return math.nan if math.isnan(alpha) else max(least, least_count(environment, 1) ** (1 - alpha))


def expected_error(environment, T_min: float, epsilon: float) -> float:
    """Return the largest variance, over features, of a mean difference by formula; nan for T_min nan."""
    if math.isnan(T_min):
        return math.nan
    epsilon = math.inf if math.isnan(epsilon) else epsilon
    variances = environment.deviations**2
    worst = variances[variances.sum(axis=1).argmax()]
    return mean_difference.private_variance(T_min, worst[0], worst[1], epsilon)


def error_by_formula(setting: dict, environment, T_min: float) -> float:
    """Return the error by formula; nan for policies without a formula, or with other than the printed noise."""
    noise = setting.get("noise", math.nan)
    if setting["policy"] == "conse_exp3e" and not math.isnan(T_min):
        features = zip(environment.means, environment.deviations**2, strict=True)
        return max(float(mean_difference.inverse_propensity_variance(math.floor(T_min), *one)) for one in features)
    if setting["policy"] in ("conse_se", "dp_conse") and (pd.isna(noise) or noise == 1):
        return expected_error(environment, T_min, setting["epsilon"])
    return math.nan


def pulls_bound(n: int, gap: float, epsilon: float) -> float:
    """Return the bound in Lemma 3.1's proof on the worse arm's pulls; for epsilon nan that of Lemma 2.1."""
    logarithm = math.log(2 * math.log(2 / gap) * n)
    if math.isnan(epsilon):
        return logarithm * 1024 / gap**2
    return 3 * logarithm * (1024 / gap**2 + 96 / (epsilon * gap))


def exp3e_bound(setting: dict, gap: float) -> float:
    """Return 16 C / gap^2 + 1 + 4 n^2 delta, arXiv version 1's bound on the worse arm's pulls; nan for other cells."""
    if setting["policy"] != "conse_exp3e" or setting["M"] > 1:
        return math.nan
    C = setting.get("C", math.nan)
    n = int(setting["horizon"])
    return 16 * conse_exp3e.configure(1, n, 1.0, None if pd.isna(C) else C).C / gap**2 + 3


def epoch_params(setting: dict):
    """Return the parameters of a cell's policy for one feature; None for a policy without epochs."""
    module = {"conse_se": conse_se, "dp_conse": dp_conse}.get(setting["policy"])
    if module is None:
        return None
    own = [k for k in PolicyModule(setting["policy"]).arguments if k not in ("M", "horizon", "alpha")]
    parameters = {k: setting[k] for k in own if k in setting and pd.notna(setting[k])}
    return module.configure(1, int(setting["horizon"]), 1.0, **parameters)


@inference()
@as_frame
def lap_plus(results: Results) -> Iterator[dict]:
    """Return the sums of the probabilities of Lap+, with the printed constant and with the corrected one."""
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        for m in (1, 2, 5, 10, 100, 1000):
            printed, corrected = mechanism.sums(epsilon, m)
            yield {"epsilon": epsilon, "m": m, "printed_sum": printed, "corrected_sum": corrected}
