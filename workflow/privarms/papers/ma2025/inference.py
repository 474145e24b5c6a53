"""The inference tables: each function takes the results and returns a frame."""

import math

import numpy as np
import pandas as pd

from privarms.audits import neighbouring_users
from privarms.audits.reduction import COUNTS, ENDS, reduce
from privarms.environments import exponential
from privarms.inference.rows import as_frame
from privarms.jit.cache import compiled
from privarms.papers.ma2025 import _panels as panels
from privarms.papers.ma2025._panels import DIMENSIONS
from privarms.plots.curves import parameters
from privarms.protocols.locally_private import expected_rewards
from privarms.studies.results import Results
from privarms.studies.streams import digest, stream

# Confidence of each bound: forty bounds hold together with more than 95%.
CONFIDENCE = 0.999
DRAWN_SEED = 2025
SETTING = ["variant", "differ", "event", "batch", "epsilon"]
# Grid points along an edge of the cube for approximation errors; a power of 2, so equal bins have equal numbers.
FINE = 4096
# The depth and the arms of the bins that are judged.
DEEPEST, ARMS = 12, 3
STUDIES = [study for both in panels.STUDIES.values() for study in both]


def privacy(results: Results) -> pd.DataFrame:
    """Return the privacy loss of a batch's sums about its last user, per variant, difference, event, batch and epsilon.

    exact: log ratio of the event's probabilities, inf if one is 0, nan if both are; lower_bound: on epsilon, from
    counts, -inf if the event was not seen; trials: with each of the users
    """
    table = reduce(results.replicates("privacy"), neighbouring_users.AUDIT, SETTING, CONFIDENCE)
    return table.drop(columns=["audit", "subject", "claimed", *ENDS, *COUNTS])


@as_frame
def spread(results: Results) -> pd.DataFrame:
    """Return how much the regret of each cell of Figures 7 to 9 varies from run to run.

    log_sd, log_sd_se: the logarithm of the standard deviation, and its standard error; nan if runs do not differ
    """
    for study in STUDIES:
        settings = parameters(results.cells(study))
        runs = results.replicates(study, ("cell", "t", "horizon", "regret"))
        runs = runs[runs["t"] == runs["horizon"]]
        for cell, regret in runs.groupby("cell", observed=True, sort=False)["regret"]:
            log_sd, se = log_spread(regret.to_numpy())
            row = {"study": study, "cell": cell, **settings.loc[cell], "replicates": len(regret)}
            yield row | {"log_sd": log_sd, "log_sd_se": se}


def log_spread(sample: np.ndarray) -> tuple[float, float]:
    """Return the logarithm of a sample's standard deviation, and its standard error by the fourth moment."""
    if len(sample) < 2 or not np.ptp(sample) > 0:
        return math.nan, math.nan
    centred = sample - sample.mean()
    variance = (centred**2).mean()
    kurtosis = (centred**4).mean() / variance**2
    return math.log(sample.std(ddof=1)), math.sqrt(max(kurtosis - 1, 0) / (4 * len(sample)))


@as_frame
def eliminations(results: Results) -> pd.DataFrame:
    """Return the arms that each cell of study `eliminations` removes, and the share of best arms in the bin's middle.

    removed: arms removed in bins per run; wrong, wrong_se: the share of them that was the best; source_wrong,
    source_wrong_se: wrong ones per run while the sources streamed; lost, lost_se: the probability that a context has
    lost its best arm; looks, misses: evaluations of estimates in all runs, and those that find an estimate outside its
    radius; missed: the runs with a miss
    """
    output = panels.named(results.cells("eliminations"))
    output = output.sort_values(["variant", "c", "epsilon", "n_aux", "epsilon_aux", "order", "n"], kind="stable")
    runs = dict(list(results.replicates("eliminations").groupby("cell", observed=True)))
    settings = [c for c in (*panels.ALGORITHM, "also", *panels.AXES, "batch", "panels") if c in output]
    for _, cell in output.iterrows():
        group = runs[cell["cell"]]
        removed, wrong = group["eliminations"].to_numpy(float), group["wrong"].to_numpy(float)
        share = wrong.sum() / removed.sum() if removed.sum() else np.nan
        # Runs are independent, removals within a run are not.
        n = len(group)
        several = removed.sum() and n > 1
        se = np.sqrt(((wrong - share * removed) ** 2).sum() * n / (n - 1)) / removed.sum() if several else np.nan
        means = {"lost": group["lost"], "source_wrong": group["auxiliary_wrong"]}
        yield {
            "cell": cell["cell"],
            **{c: cell[c] for c in settings},
            "replicates": n,
            "removed": removed.mean(),
            "wrong": share,
            "wrong_se": se,
            **{name: values.mean() for name, values in means.items()},
            **{f"{name}_se": values.std(ddof=1) / np.sqrt(n) for name, values in means.items()},
            "looks": int(group["looks"].sum()),
            "misses": int(group["misses"].sum()),
            "missed": int((group["misses"] > 0).sum()),
        }


@as_frame
def first_eliminations(results: Results) -> pd.DataFrame:
    """Return the target users before a sub-optimal arm is eliminated at the test point, per cell of `illustration`.

    users, users_se: mean and standard error; 0 in the auxiliary stage, the horizon if no arm is eliminated
    """
    cells = parameters(results.cells("illustration"))
    for head, columns in results.by_cell("illustration", ("t", "arm", "replicate", "eliminated_after")):
        cell, horizon = head["cell"].iloc[0], head["horizon"].iloc[0]
        own = (columns["t"] == horizon) & (columns["arm"] > 0)
        users = pd.Series(columns["eliminated_after"][own]).groupby(columns["replicate"][own]).min()
        users = users.fillna(float(horizon))
        measured = {"replicates": len(users), "users": users.mean(), "users_se": users.sem()}
        yield {"cell": cell, **cells.loc[cell], **measured}


def illustrated(results: Results) -> pd.DataFrame:
    """Return the first run of each cell of study `illustration_curves`, which Figure 6 shows next to the means.

    share, local_regret: of arms that are drawn at the test point user by user, as in the text; the study has their
    expectations. Arms are drawn uniformly among those that are left there; runs with another choice stay unchanged.
    """
    columns = ("cell", "t", "arm", "regret", "local_regret", "share", "eliminated_after")
    runs = results.replicates("illustration_curves", columns, (("replicate", "==", 0),)).astype({"cell": str})
    cells = results.cells("illustration_curves").drop_duplicates("cell").set_index("cell")
    parts = [_drawn(run, cells.loc[cell, "variant"]) for cell, run in runs.groupby("cell", sort=False)]
    return pd.concat(parts, ignore_index=True)


def _drawn(run: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Draw the arms of one run at the test point, on a stream of its own."""
    t, arms = run["t"].unique(), run["arm"].nunique()
    left = ~(np.arange(t[-1])[:, None] >= run["eliminated_after"].to_numpy(float)[:arms])
    chances = (left / np.maximum(left.sum(axis=1, keepdims=True), 1)).cumsum(axis=0)[t - 1] / t[:, None]
    if not np.allclose(chances, run["share"].to_numpy().reshape(chances.shape)):
        return run
    environment = exponential.configure(arms, variant)
    means = compiled(expected_rewards)(environment, np.full((1, environment.dimensions), environment.point))[0]
    numbers = stream(DRAWN_SEED, digest({"cell": run["cell"].iloc[0]}), 0).random(left.shape)
    drawn = np.arange(arms) == (numbers * left).argmax(axis=1)[:, None]
    counts = drawn.cumsum(axis=0)[t - 1]
    return run.assign(share=(counts / t[:, None]).ravel(), local_regret=np.repeat(counts @ (means.max() - means), arms))


def partitions(results: Results) -> pd.DataFrame:
    """Return the runs of Figures 2 and 3, one per cell."""
    return results.replicates("partitions")


@as_frame
def formulas(results: Results) -> pd.DataFrame:
    """Return values of the paper's formulas, without any run; one row per formula and depth of a bin.

    diameter: of a bin over (17)'s tau_s; approximation_error: largest distance of a reward from the mean of its bin,
    over tau_s, for uniform contexts and Figure 4's reward functions, which only depend on the first coordinate;
    density: the integral of c ||x - 1/2||_inf^2 over the square with the printed c = 2^-gamma d / (d + gamma)
    """
    x = (np.arange(FINE) + 0.5) / FINE
    contexts = np.column_stack([x] + [np.full_like(x, 0.5)] * (DIMENSIONS - 1))
    means = compiled(expected_rewards)(exponential.configure(ARMS, "as_printed"), np.ascontiguousarray(contexts))
    # The mass between radii r and r + dr is d 2^d r^(d - 1) dr, so the power integrates to c again.
    yield {"formula": "density", "depth": 0, "value": (2**-2 * DIMENSIONS / (DIMENSIONS + 2)) ** 2}
    for s in range(DEEPEST + 1):
        tau = 2 * math.sqrt(DIMENSIONS) * 2 ** (-s / DIMENSIONS)
        # The longest edge is halved first, so edges differ by a factor of at most 2.
        edges = [2.0 ** -(s // DIMENSIONS + (k < s % DIMENSIONS)) for k in range(DIMENSIONS)]
        # The worst cut leaves the first coordinate its longest edge.
        bins = means.reshape(-1, int(max(edges) * FINE), ARMS)
        error = float(np.abs(bins - bins.mean(axis=1, keepdims=True)).max()) / tau
        yield {"formula": "diameter", "depth": s, "value": round(math.hypot(*edges) / tau, 9)}
        yield {"formula": "approximation_error", "depth": s, "value": error}
