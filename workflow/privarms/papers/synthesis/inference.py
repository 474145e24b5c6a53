"""Inference tables: numbers computed from the runs for figures and tables."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pandas as pd

from privarms.inference import lower_bounds
from privarms.inference.bias import bias_bound, sample_mean_bias
from privarms.inference.rows import as_frame
from privarms.jit.cache import compiled
from privarms.papers.synthesis import _validity
from privarms.planning.labels import described
from privarms.planning.results import Results, environment_of
from privarms.protocols.locally_private import expected_rewards
from privarms.registry.artifacts import inference
from privarms.registry.modules import EnvironmentModule, PolicyModule

COLUMNS = ("pulls", "reward_sum", "held_out_sum")


def _cells(results: Results, study: str) -> pd.DataFrame:
    """Return the cells of a study; claims: whether the policy takes an epsilon and claims it."""
    cells = described(results.cells(study)).set_index("cell", drop=False)
    return cells.assign(claims=[PolicyModule(policy).claims_epsilon for policy in cells["policy"]])


def _each(results: Results):
    """Yield the cells of `central`, each as a row and its `Runs`; a row without a variant has an empty one."""
    cells = _cells(results, "central").fillna({"variant": ""})
    for first, columns in results.by_cell("central", COLUMNS):
        cell = cells.loc[first["cell"].iloc[0]]
        means = np.array(cell["means"])
        pulls, sums, held_out = (columns[c].astype(float).reshape(-1, len(means)) for c in COLUMNS)
        epsilon = cell["epsilon"] if cell["claims"] else np.nan
        yield cell, _validity.Runs(pulls, sums, held_out, means, float(epsilon), int(cell["horizon"]))


def _regret(runs: _validity.Runs) -> dict[str, float]:
    """Return mean, standard error and quantiles of the pseudo-regret, and the bound times ln T.

    bound: by d_epsilon, or of Lai & Robbins without an epsilon; 0 with equal arms, where regret is impossible
    uniform: the expected regret of uniform choices
    """
    regret = runs.pulls @ (runs.means.max() - runs.means)
    (mean, se), (median, q90) = _mean(regret), np.quantile(regret, [0.5, 0.9])
    means, private = runs.means.tolist(), runs.private
    bound = lower_bounds.azize(means, runs.epsilon) if private else lower_bounds.lai_robbins(means)
    output: dict[str, float] = {"regret": mean, "se": se, "median": median, "q90": q90}
    output["bound"] = bound * np.log(runs.horizon)
    return output | {"uniform": float(runs.horizon * (runs.means.max() - runs.means).mean())}


def _bias(runs: _validity.Runs) -> dict[str, float]:
    """Return the largest |bias| of an arm's sample mean, and the bound of Theorem 1 of Neel & Roth.

    worst_bias, worst_bias_se: of the arm with the largest |bias|, nan if no arm has one; unpulled: number of runs with
    an arm that was never pulled, which leave that arm out
    over_theorem, over_theorem_se: the largest ratio over arms of |bias| to (e^epsilon - 1) mu
    """
    bias, se, _ = sample_mean_bias(runs.pulls, runs.sums, runs.means)
    output: dict[str, float] = {"unpulled": int((runs.pulls == 0).any(axis=1).sum())}
    if np.isnan(bias).all():
        return output
    worst = int(np.nanargmax(np.abs(bias)))
    output |= {"worst_bias": bias[worst], "worst_bias_se": se[worst]}
    if runs.private:
        allowed = bias_bound(runs.epsilon, runs.means)
        ratio, ratio_se = np.abs(bias) / allowed, se / allowed
        most = int(np.nanargmax(ratio))
        output |= {"over_theorem": ratio[most], "over_theorem_se": ratio_se[most], "theorem": allowed.max()}
    return output


@inference(studies=["central"])
def runs(results: Results) -> pd.DataFrame:
    """Return regret and bias; one row per cell."""
    rows = [cell.drop("means").to_dict() | _regret(part) | _bias(part) for cell, part in _each(results)]
    frame = pd.DataFrame(rows)
    bound = frame["bound"].where(frame["bound"] > 0)
    return frame.assign(over_bound=frame["regret"] / bound, over_bound_se=frame["se"] / bound)


@inference(studies=["central"])
@as_frame
def tests(results: Results) -> Iterator[dict]:
    """Return tests and intervals; one row per cell and procedure.

    trials: runs, of which `errors`, `powers`, `mean_held` and `gap_held` are counts; log_gamma: ln of the level at
    which max-information tests"""
    for cell, part in _each(results):
        about = cell.drop("means").to_dict()
        for procedure, counts in _validity.counted(part).items():
            row = {**about, "procedure": procedure, "trials": len(part.pulls), **counts}
            if procedure == "max_information":
                row["log_gamma"] = _validity.log_gamma(_validity.ALPHA / len(part.means), part)
            yield row


@inference(studies=["central"], audits=True)
@as_frame
def privacy(results: Results) -> Iterator[dict]:
    """Return the audited losses of the policies here over their claims; one row per policy and variant.

    exact: the largest exact log ratio over the claim, nan if none is known; lower_bound: the largest from counts;
    audited: number of audited settings
    """
    cells, audits = (rows.fillna({"variant": ""}) for rows in (results.cells("central"), results.audit()))
    audits = audits[audits["trials"] > 0]
    for policy, variant in dict.fromkeys(zip(cells["policy"], cells["variant"], strict=True)):
        own = audits[(audits["subject"] == policy) & (audits["variant"] == variant)]
        claimed = own["claimed_epsilon"]
        yield {
            "policy": policy,
            "variant": variant,
            "audited": len(own),
            "exact": (own["exact"] / claimed).max(),
            "lower_bound": (own["lower_bound"] / claimed).max(),
        }


# About the number of grid points on the cube for the mean regret of uniform choices.
POINTS = 2**16
LOCAL = ("local", "local_symmetric", "local_adult")
SHARES = {"missed": ("misses", "looks"), "wrong": ("wrong", "eliminations")}
MEANS = {"regret": "regret", "reward": "reward", "removals": "eliminations", "lost": "lost"}
MEANS |= {"in_parts": "in_parts", "alone": "alone"}


@inference(studies=LOCAL)
@as_frame
def local(results: Results) -> Iterator[dict]:
    """Return locally private policies; one row per cell of `local`, `local_symmetric` and `local_adult`.

    regret, reward: mean at the horizon with their standard errors, nan if not recorded
    of_uniform: regret over that of uniform choices, with its standard error; nan for data
    missed: share of evaluations at which an estimate is farther from its expectation than its radius
    removals: mean number of arms eliminated in bins; wrong: share of these that were best; lost: probability that a
    user's best arm is eliminated at the end
    in_parts: share of users whose message names a part of the cube; alone: share of users who were the only ones to
    change a bin's sums. All have standard errors.
    """
    for study in LOCAL:
        cells = _cells(results, study)
        for name, group in results.replicates(study).groupby("cell", observed=True, sort=False):
            cell, output = cast(pd.Series, cells.loc[name]), {}
            for column, measured in MEANS.items():
                if measured in group:
                    output[column], output[f"{column}_se"] = _mean(group[measured].to_numpy(float))
            for column, (part, whole) in SHARES.items():
                if whole in group:
                    output[column], output[f"{column}_se"] = _share(*(group[c].to_numpy(float) for c in (part, whole)))
            uniform = _uniform_regret(cell) * cell["horizon"]
            if uniform == uniform:
                output |= {"of_uniform": output["regret"] / uniform, "of_uniform_se": output["regret_se"] / uniform}
            yield cell.drop("means").to_dict() | output


def _mean(values: np.ndarray) -> tuple[float, float]:
    # The stubs of pandas give a standard error the type of any cell.
    se: Any = pd.Series(values).sem()
    return pd.Series(values).mean(), se


def _share(part: np.ndarray, whole: np.ndarray) -> tuple[float, float]:
    """Return the ratio of two sums over runs and its first-order standard error."""
    n = len(whole)
    if np.isnan(part).any() or not whole.sum() > 0:
        return np.nan, np.nan
    share = part.sum() / whole.sum()
    return share, (np.std(part - share * whole, ddof=1) / np.sqrt(n) / whole.mean() if n > 1 else np.nan)


def _uniform_regret(cell: pd.Series) -> float:
    """Return the mean regret per user of uniform choices with uniform contexts; nan for data."""
    if EnvironmentModule(cell["environment"]).needs_dataset:
        return np.nan
    environment = environment_of(cell)
    d = environment.dimensions
    edge = round(POINTS ** (1 / d))
    middles = [(np.arange(edge) + 0.5) / edge] * d
    points = np.stack(np.meshgrid(*middles), axis=-1).reshape(-1, d)
    rewards = compiled(expected_rewards)(environment, points)
    return float((rewards.max(axis=1) - rewards.mean(axis=1)).mean())
