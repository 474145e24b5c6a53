"""Steps of the proofs and sentences about formulas, calculated for instances; nothing is simulated."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from scipy.stats import binom

from privarms.environments import features_bernoulli
from privarms.inference import mean_difference
from privarms.inference.rows import as_frame
from privarms.jit.cache import compiled
from privarms.mechanisms import lap_plus
from privarms.papers.li2024.inference_formulas import expected_error, expected_T_min, least_count, printed_order
from privarms.planning.results import Results
from privarms.policies.experiment import conse_exp3e, conse_se, dp_conse
from privarms.registry.artifacts import inference

PATIENTS, MILLION = 20_000, 1_000_000
ALPHAS, EPSILONS = (0.0, 0.1, 0.3, 0.5, 1.0), (0.1, 1.0)
ARRIVALS = ("stationary", "seasonal")
# Numbers that are equal up to this many digits are equal; the last digits are rounding.
DIGITS = 9


@inference()
@as_frame
def formulas(results: Results) -> Iterator[dict]:
    """Return steps of proofs for instances; one row per formula and instance.

    value: mostly the left side over the right side of an inequality; holds: whether an identity is true
    reading: the instance, or the interpretation; further columns: settings of the instance
    """
    for part in (_of_lower_bound, _of_curve, _of_elimination, _of_trial, _of_estimate, _of_exp3e, _of_privacy):
        for row in part():
            yield {"formula": "", "reading": "", "holds": None} | row | {"value": round(row["value"], DIGITS)}


def _of_lower_bound() -> Iterator[dict]:
    """Yield the steps of Theorem 2.1 and its proof (appendix A.1; arXiv version 1, section 6.1)."""
    for pulls in (50, 100, 200, 400):
        at = {"formula": "lemma_1_1", "reading": f"{pulls} pulls"}
        yield at | {"value": _lemma_1_1(pulls, 0.01, 10**8)}
    for phi in (0.05, 0.25):
        divergence, form = -math.log(1 - 4 * phi**2) / 2, phi**2 / (0.25 - phi**2)
        at = {"reading": f"phi = {phi:g}"}
        yield at | {"formula": "kl_form", "value": divergence / form, "holds": math.isclose(divergence, form)}
        yield at | {"formula": "kl_bound", "value": form / (16 * phi**2 / 3)}


def _lemma_1_1(pulls: int, phi: float, n: int) -> float:
    """Return an upper bound on the left side of Lemma 1.1 over its right side, for one policy and estimator.

    Both arms have rewards of -1 and 1. The policy pulls arm 2 `pulls` times. If all rewards are -1, it plays arm 1 from
    then on, and the estimate of arm 2's mean is -1 + 0.9 phi. Otherwise it plays both arms equally often, and the
    estimate is the difference of means. The instance u of the right side has certain rewards, 1 for arm 1 and -1 for
    arm 2: R_u = pulls |Delta_u|. If arm 2's mean is at least -1 + 1.8 phi, all its first rewards are -1 with
    probability at most (1 - 0.9 phi)^pulls. If it is smaller, the error is below 0.9 phi plus that of arm 1's mean.
    Hoeffding's inequality bounds the other errors.
    """
    missed = 2 * math.exp(-(n - pulls) * (0.1 * phi) ** 2 / 2) + 4 * math.exp(-(n - pulls) / 2 * (phi / 2) ** 2 / 2)
    return ((1 - 0.9 * phi) ** pulls + missed) / (0.5 * (1 - math.sqrt(16 / 3 * phi**2 * pulls)))


def _of_curve() -> Iterator[dict]:
    """Yield sentences about the curve and its ends (sections 2 and 4), on the orders that the paper prints."""
    growth = math.log(MILLION / PATIENTS)
    # Exponents in n of regret times error. A trial alone: n / f_min. A policy of regret log n: log n / log n.
    for arrivals, least in (("f_min = n/2", 1.0), ("f_min = n^0.6", 0.6)):
        at = {"formula": "extreme_case", "arrivals": arrivals}
        yield at | {"reading": "RCT", "value": 1 - least}
        yield at | {"reading": "UCB or TS", "value": 0.0}
    environment, log_n = features_bernoulli.configure(2, PATIENTS), math.log(PATIENTS)
    for epsilon in EPSILONS:
        ends = [
            expected_error(environment, expected_T_min(environment, PATIENTS, alpha, epsilon), epsilon)
            for alpha in (0.0, 1.0)
        ]
        yield {"formula": "smallest_error", "epsilon": epsilon, "value": ends[0] / ends[1]}
    lengths = [max(least, log_n) / log_n for least in (PATIENTS / 2, PATIENTS**0.6, log_n**2, log_n)]
    falls = all(after < before for before, after in itertools.pairwise(lengths))
    yield {"formula": "single_point", "value": lengths[-1], "holds": falls and lengths[-1] == 1.0}
    for n, arrivals, M in itertools.product((PATIENTS, MILLION), ARRIVALS, (1, 2, 10)):
        T = expected_T_min(features_bernoulli.configure(M, n, arrivals=arrivals), n, 1.0, math.nan)
        at = {"formula": "alpha_1", "reading": arrivals, "n": n, "M": M}
        yield at | {"value": T / math.log(n), "holds": math.isclose(T, math.log(n))}
    # C is of the order of log(n)^2, and the regret until an arm can be eliminated is proportional to C.
    C = [conse_exp3e.configure(1, n, 1.0).C for n in (PATIENTS, MILLION)]
    logs = math.log(math.log(MILLION) / math.log(PATIENTS))
    yield {"formula": "exp3e_constant", "reading": "exponent of log n", "value": math.log(C[1] / C[0]) / logs}
    yield {"formula": "exp3e_constant", "reading": "exponent of n", "value": math.log(C[1] / C[0]) / growth}


def _of_elimination() -> Iterator[dict]:
    """Yield the steps of Lemmas 2.1 and 3.1 (appendices A.2, A.4, A.5.1) and of section 5's budgets."""
    length, radius = compiled(dp_conse.epoch_length), compiled(dp_conse.confidence_radius)
    plain = conse_se.configure(1, PATIENTS, 0.5)
    value = _outside(math.ceil(length(plain, 1)), radius(plain, 1)) * 4 * PATIENTS
    yield {"formula": "hoeffding", "reading": "epoch 1", "n": PATIENTS, "value": value}
    # Experiment 2: a gap of 2, and either arm for half of the patients until epoch 1 ends.
    regret = 1 + math.ceil(length(plain, 1))
    yield from ({"formula": "first_half_regret", "reading": f"Reg = {b}", "value": regret / b} for b in (400, 800))
    for n, epsilon in itertools.product((PATIENTS, MILLION), EPSILONS):
        private = dp_conse.configure(1, n, 0.5, epsilon)
        R = [length(private, epoch) for epoch in range(1, 11)]
        at = {"n": n, "epsilon": epsilon}
        c_1 = compiled(dp_conse.privacy_radius)(private, 1)
        proof = math.log(8 * n) / (R[0] * epsilon)
        yield at | {"formula": "c_1", "value": c_1 / proof, "holds": math.isclose(c_1, proof)}
        least = min(after / (2 * before) for before, after in itertools.pairwise(R))
        yield at | {"formula": "doubling", "value": min(least, R[0] * epsilon / (16 * math.log(n)))}
        reached = lap_plus.survival(math.ceil(R[0]), R[0], epsilon)
        inside = reached - lap_plus.survival(math.floor(3 * R[0]) + 1, R[0], epsilon)
        yield at | {"formula": "proof_3_1", "value": n * (1 - inside)}
        yield at | {"formula": "proof_3_5", "batches": "all", "value": n * (1 - reached)}
        # The union over all epochs: each batch is shorter than R_e with a probability below 0.6.
        yield at | {"formula": "proof_3_5", "batches": "some", "value": 0.0}
    n, epsilon = 3, 0.1
    private = dp_conse.configure(1, n, 0.5, epsilon)
    R_1 = length(private, 1)
    short = 1 - lap_plus.survival(math.ceil(R_1), R_1, epsilon)
    yield {"formula": "batch_event", "n": n, "epsilon": epsilon, "value": short / (2 * math.exp(-R_1 * epsilon))}
    for count in (10, 100, 1000):
        tail = float(binom.cdf(math.ceil(count / 2) - 1, PATIENTS // 2, count / (PATIENTS // 2)))
        yield {"formula": "chernoff", "reading": f"f = {count}", "value": tail / math.sqrt(2 / math.e) ** count}
    yield {"formula": "chernoff", "reading": "rounded", "value": math.sqrt(2 / math.e) / math.exp(-0.06)}


def _outside(R: int, radius: float) -> float:
    """Return the probability that a mean of R fair coin flips, shared by two arms, errs by more than a radius."""
    counts = np.arange(1, R)
    low = binom.cdf(np.ceil(counts * (0.5 - radius)) - 1, counts, 0.5)
    within = 1 - 2 * low
    return 1 - float(binom.pmf(counts, R, 0.5) @ (within * within[::-1]))


def _of_trial() -> Iterator[dict]:
    """Yield the steps about a trial's length (appendices A.3, A.5.4 and A.6.2)."""
    for epsilon, m in itertools.product(EPSILONS, (1, 10, 1000)):
        total, _ = lap_plus.sums(epsilon, m)
        at = {"formula": "lap_plus", "reading": f"m = {m}", "epsilon": epsilon}
        yield at | {"value": total, "holds": math.isclose(total, 1)}
    for n, alpha, epsilon, delta in itertools.product((PATIENTS, MILLION), ALPHAS, (*EPSILONS, 4.0), (0.1, 0.5)):
        T = expected_T_min(features_bernoulli.configure(1, n), n, alpha, epsilon)
        reach = delta * T
        beyond = lap_plus.survival(math.ceil(T + reach), T, epsilon)
        beyond += 1 - lap_plus.survival(math.floor(T - reach) + 1, T, epsilon)
        bound = 2 * math.exp(-epsilon * math.ceil(reach) / 2) / -math.expm1(-epsilon / 2)
        if bound > 1e-12:
            at = {"n": n, "alpha": alpha, "epsilon": epsilon, "reading": f"delta = {delta:g}"}
            yield at | {"formula": "trial_lengths", "value": beyond / bound}
    counts = np.arange(1.0, 10_001.0)
    for alpha in ALPHAS:
        T = np.maximum(math.log(PATIENTS), counts ** (1 - alpha))
        yield {"formula": "T_min_moves", "alpha": alpha, "value": float(np.diff(T).max()) - 1}
    for n, alpha, epsilon in itertools.product((PATIENTS, MILLION), ALPHAS, EPSILONS):
        T = expected_T_min(features_bernoulli.configure(1, n), n, alpha, epsilon)
        at = {"n": n, "alpha": alpha, "epsilon": epsilon}
        yield at | {"formula": "trial_event", "value": (1 - lap_plus.survival(math.ceil(T / 2), T, epsilon)) * n**2}
        # The noise of scale 2 / (epsilon T) against the mean difference, whose variance is 2 (s0^2 + s1^2) / T.
        yield at | {"formula": "laplace_share", "value": math.sqrt(4 / (epsilon**2 * T * 0.42))}


def _of_estimate() -> Iterator[dict]:
    """Yield the bias and the limit of the variance of the estimates (Propositions 2.6 and 3.6, appendix A.6)."""
    for n, alpha, epsilon in itertools.product((PATIENTS, MILLION), ALPHAS, (math.nan, *EPSILONS)):
        T = expected_T_min(features_bernoulli.configure(1, n), n, alpha, epsilon)
        budget = math.inf if math.isnan(epsilon) else epsilon
        at = {"formula": f"bias_{'conse_se' if math.isnan(epsilon) else 'dp_conse'}"}
        at |= {"n": n, "alpha": alpha, "epsilon": epsilon}
        yield at | {"value": abs(mean_difference.relative_bias(T, budget))}
    for arrivals, alpha in itertools.product(ARRIVALS, ALPHAS):
        environment = features_bernoulli.configure(2, 6 * MILLION, arrivals=arrivals)
        at = {"reading": arrivals, "alpha": alpha}
        moved = (least_count(environment, 1) / least_count(environment)) ** (1 - alpha)
        n = int(environment.ends[-1])
        T = expected_T_min(environment, n, alpha, math.nan)
        share = printed_order(environment, n, alpha, math.nan) / T
        yield at | {"formula": "normaliser", "value": share, "holds": math.isclose(share, 1)}
        # Two arms share T_min patients. The noise of DP-ConSE is of the order of 1 / T_min^2.
        means, variances = environment.means[0], environment.deviations[0] ** 2
        propensity = float(mean_difference.inverse_propensity_variance(1, means, variances)) / variances.sum()
        for policy, limit in (("conse_se", 2.0), ("dp_conse", 2.0), ("conse_exp3e", propensity)):
            yield at | {"formula": f"variance_{policy}", "value": limit * moved}
            yield at | {"formula": f"variance_{policy}_of_T_min", "value": limit}
    # DP-ConSE's variance over ConSE's, both times their T_min.
    for n, alpha, epsilon in itertools.product((MILLION, 10**100), ALPHAS, EPSILONS):
        T = max(math.log(n) / epsilon, (n / 2) ** (1 - alpha))
        value = 1 + 4 / (epsilon**2 * T * 0.42)
        yield {"formula": "variance_ratio", "n": float(n), "alpha": alpha, "epsilon": epsilon, "value": value}


def _of_exp3e() -> Iterator[dict]:
    """Yield the steps of arXiv version 1's first half (its Algorithm 1 and section 6.2)."""
    # Line 10 has epsilon_(n-1) above the fraction bar, lines 9 and 10 have epsilon_n below it. The second patient comes
    # after one who got arm 1: R(0) = 0, and R(1) is twice the reward. C = 1 makes the difference visible.
    before, now = 1.0, 1 / math.sqrt(2)
    for reward in (0.5, 1.0):
        total = (1 + math.exp(before * 2 * reward)) / (1 + math.exp(now * 2 * reward))
        at = {"formula": "exp3e_probabilities", "reading": f"R(1) = {2 * reward:g}"}
        yield at | {"value": total, "holds": math.isclose(total, 1)}
    chance = compiled(conse_exp3e.chance_of_arm_1)
    for n, count in itertools.product((PATIENTS, MILLION), (1, 100, PATIENTS // 2)):
        C = conse_exp3e.configure(1, n, 1.0).C
        # The largest lead with which both arms are still viable.
        least = chance(C, count, -2 * math.sqrt(C * count))
        yield {"formula": "propensity", "n": n, "reading": f"t = {count + 1}", "value": 1 / least / (1 + math.e**2)}
        # Azuma's inequality for increments of at most 1 + e^2, and all n times together.
        missed = n * 2 * math.exp(-C / (2 * (1 + math.e**2) ** 2))
        yield {"formula": "martingale", "n": n, "value": missed * 2 * n**2}


def _of_privacy() -> Iterator[dict]:
    """Yield the loss in arXiv version 1's Definition 1, over epsilon."""
    yield {"formula": "definition_1", "n": PATIENTS, "epsilon": 2.0, "value": _definition_1(PATIENTS, 2.0, 20) / 2.0}


def _definition_1(n: int, epsilon: float, after: int) -> float:
    """Return a lower bound on the loss of DP-ConSE in arXiv version 1's Definition 1, with delta = 1/n.

    One feature. In epoch 1 the first patient got arm 1, all others arm 0 and rewards of 1. The runs differ in the
    reward of arm 1: 0 or 1. The definition conditions on all actions before the next patient, who comes `after`
    patients after the mean length R_1. In run 0 arm 1 is eliminated when the epoch ends, in run 1 no arm is.
    """
    params = dp_conse.configure(1, n, 1.0, epsilon)
    R = compiled(dp_conse.epoch_length)(params, 1)
    scale, margin = compiled(dp_conse.mean_scale)(params, 1), compiled(dp_conse.elimination_margin)(params, 1)
    patients = math.floor(R) + after

    def beyond(x: float) -> float:
        # The difference of two Laplace variables is above x >= 0.
        return math.exp(-x / scale) * (2 + x / scale) / 4

    running = lap_plus.survival(patients, R, epsilon)
    short = 1 - lap_plus.survival(2, R, epsilon)
    kept = beyond(1 - margin)
    # Run 0: arm 1 is possible while the epoch runs, if it was too short, if noise keeps arm 1 or eliminates arm 0.
    arm_1_in_run_0 = (running + short + kept + beyond(margin)) / ((1 - kept) * (1 - short - running))
    # Run 1: an elimination fits the actions 2^k times better if it was k patients ago.
    lengths = np.arange(1, patients)
    ago = np.exp(-epsilon / 2 * np.abs(lengths - math.floor(R)) + (patients - 1 - lengths) * math.log(2)).sum()
    gone, left = beyond(margin) * float(ago), (1 - short) * (1 - 2 * beyond(margin))
    arm_1_in_run_1 = left / (left + gone) / 2
    return math.log((arm_1_in_run_1 - 1 / n) / arm_1_in_run_0)
