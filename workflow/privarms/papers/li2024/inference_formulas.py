"""Values of the paper's formulas, for cells and under each interpretation; nothing is simulated."""

import itertools
import math

import numpy as np
import pandas as pd
from scipy.stats import binom

from privarms.environments import features_bernoulli
from privarms.inference import mean_difference
from privarms.inference.rows import as_frame
from privarms.jit.cache import compiled
from privarms.mechanisms import lap_plus as mechanism
from privarms.policies.experiment import conse_exp3e, conse_se, dp_conse
from privarms.studies import library
from privarms.studies.results import Results

PATIENTS = 20_000


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
    return mean_difference.private_variance(T_min, *worst, epsilon)


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


def sure_patients(params, gap: float) -> float:
    """Return the patients of a feature until the events in the proofs of Lemmas 2.1 and 3.1 leave one arm.

    On these events two noisy means differ by the gap up to a margin 2 h_e + 2 c_e. An arm is eliminated if they differ
    by more than the margin: in the first epoch with twice the margin below the gap. The first patient is an epoch of
    its own. inf for a gap of 0.
    """
    if not gap > 0:
        return math.inf
    patients, epoch = 1.0, 1
    while True:
        patients += math.ceil(compiled(dp_conse.epoch_length)(params, epoch))
        if 2 * compiled(dp_conse.elimination_margin)(params, epoch) < gap:
            return patients
        epoch += 1


def epoch_params(setting: dict):
    """Return the parameters of a cell's policy for one feature; None for a policy without epochs."""
    module = {"conse_se": conse_se, "dp_conse": dp_conse}.get(setting["policy"])
    if module is None:
        return None
    own = [k for k in library.arguments("policies", setting["policy"]) if k not in ("M", "horizon", "alpha")]
    parameters = {k: setting[k] for k in own if k in setting and pd.notna(setting[k])}
    return module.configure(1, int(setting["horizon"]), 1.0, **parameters)


@as_frame
def lap_plus(results: Results) -> pd.DataFrame:
    """Return the sums of the probabilities of Lap+, with the printed constant and with the corrected one."""
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        for m in (1, 2, 5, 10, 100, 1000):
            printed, corrected = mechanism.sums(epsilon, m)
            yield {"epsilon": epsilon, "m": m, "printed_sum": printed, "corrected_sum": corrected}


def formulas(results: Results) -> pd.DataFrame:
    """Return the paper's formulas under each interpretation; one row per formula, reading, n and epsilon.

    batch_event: P(R_1^j >= R_1); c_1 and h_1: widths of the first epoch; C: EXP3E's constant; exp3e_probabilities: the
    sum of the two printed ones; trial_event: P(T_j >= T_min / 2); relative_bias: of the estimate of ConSE (printed) or
    DP-ConSE; both for one feature; normaliser: the propositions' expression for T_min over T_min, at the expected
    counts of two features, by arrivals
    """
    rows = []
    private, plain = dp_conse.configure(1, PATIENTS, 0.5, 1.0), conse_se.configure(1, PATIENTS, 0.5)
    R_1 = float(compiled(dp_conse.epoch_length)(private, 1))
    rows.append(("batch_event", "printed", PATIENTS, 1.0, mechanism.survival(math.ceil(R_1), R_1, 1.0)))
    c_1 = float(compiled(dp_conse.privacy_radius)(private, 1))
    rows += [("c_1", "printed", PATIENTS, 1.0, c_1), ("c_1", "proof", PATIENTS, 1.0, c_1 / 2)]
    h_1 = float(compiled(dp_conse.confidence_radius)(plain, 1))
    rows.append(("h_1", "printed", PATIENTS, math.nan, h_1))
    # With R_1 / 2 instead of R_1.
    per_arm = math.sqrt(math.log(16 * PATIENTS) / float(compiled(dp_conse.epoch_length)(plain, 1)))
    rows.append(("h_1", "per_arm", PATIENTS, math.nan, per_arm))
    rows += [("C", "printed", n, math.nan, conse_exp3e.configure(1, n, 1.0).C) for n in (10**4, 10**8)]
    # Line 10 has epsilon_(n-1) above the fraction bar, lines 9 and 10 have epsilon_n below it. The second patient comes
    # after one who got arm 1 and a reward of 1: R(0) = 0, R(1) = 2. C = 1 makes the difference visible.
    before, now, reward_sum = 1.0, 1 / math.sqrt(2), 2.0
    total = (1 + math.exp(before * reward_sum)) / (1 + math.exp(now * reward_sum))
    rows.append(("exp3e_probabilities", "printed", 2, math.nan, total))
    rows += _proof_formulas(R_1)
    rows = [(*row, math.nan) for row in rows] + _trial_formulas()
    return pd.DataFrame(rows, columns=["formula", "reading", "n", "epsilon", "value", "alpha"])


def _proof_formulas(R_1: float) -> list[tuple]:
    """Return steps of proofs and remarks over their correct values; R_1: patients of epoch 1 at n = 20,000."""
    rows = []
    for phi in (0.05, 0.25):
        divergence = -math.log(1 - 4 * phi**2) / 2
        rows.append(("kl_over_its_form", f"phi = {phi:g}", math.nan, math.nan, divergence * (0.25 - phi**2) / phi**2))
        rows.append(("kl_over_its_bound", f"phi = {phi:g}", math.nan, math.nan, divergence / (16 * phi**2 / 3)))
    for count in (10, 100, 1000):
        tail = float(binom.cdf(math.ceil(count / 2) - 1, PATIENTS // 2, count / (PATIENTS // 2)))
        rows.append(("chernoff", f"f = {count}", PATIENTS, math.nan, tail / math.sqrt(2 / math.e) ** count))
    rows.append(("chernoff", "rounded", PATIENTS, math.nan, math.sqrt(2 / math.e) / math.exp(-0.06)))
    # Experiment 2 of section 5: a gap of 2, and either arm for half of the patients until epoch 1 ends.
    rows.append(("first_half_regret", "printed", PATIENTS, math.nan, (1 + math.ceil(R_1)) * 2 / 2))
    # A trial of all n patients, two features with gap .4 and s0^2 + s1^2 = .42: error 2 (s0^2 + s1^2) / f_min.
    for n in (20_000, 1_000_000):
        for reading, least in (("uniform", n / 2), ("rare", n**0.6)):
            rows.append(("rct_product", reading, n, math.nan, n * 0.4 / 2 * 2 * 0.42 / least / 2))
        # epsilon / log n over the error at alpha = 0, 1 / f_min, with epsilon = 1.
        rows.append(("least_error", "printed", n, 1.0, n / 2 / math.log(n)))
    return rows


def _trial_formulas() -> list[tuple]:
    """Return the formulas about a trial's length, by n, alpha and epsilon (nan: ConSE)."""
    rows = []
    for n, alpha, epsilon in itertools.product((20_000, 1_000_000), (0.1, 0.3, 0.5, 1.0), (math.nan, 0.1, 1.0)):
        T = expected_T_min(features_bernoulli.configure(1, n), n, alpha, epsilon)
        budget = math.inf if math.isnan(epsilon) else epsilon
        rows.append(("relative_bias", "printed", n, epsilon, mean_difference.relative_bias(T, budget), alpha))
        if not math.isnan(epsilon):
            chance = mechanism.survival(math.ceil(T / 2), T, epsilon)
            rows.append(("trial_event", "printed", n, epsilon, chance, alpha))
    for arrivals, n, alpha in itertools.product(("stationary", "seasonal"), (20_000, 1_000_000), (0.1, 0.3, 0.5, 1.0)):
        environment = features_bernoulli.configure(2, n, arrivals=arrivals)
        T = expected_T_min(environment, n, alpha, math.nan)
        share = printed_order(environment, n, alpha, math.nan) / T
        rows.append(("normaliser", arrivals, n, math.nan, share, alpha))
    return rows
