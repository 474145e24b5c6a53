"""`privarms compare FOLDER`: rank your own bandits among published private bandits on some instances."""

import inspect
import itertools
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privarms.audits import verdicts
from privarms.cli import audit_now, interactive, ranks
from privarms.environments import bernoulli
from privarms.errors import PrivarmsError, check_known
from privarms.files.numbers import shown
from privarms.inference import lower_bounds
from privarms.planning.labels import assigned
from privarms.planning.results import environment_of
from privarms.plots import facets, style
from privarms.ranges import at_least, positive
from privarms.registry import extensions, library, privacy
from privarms.registry.modules import EnvironmentModule, PolicyModule

# Bernoulli arms of Azize and Basu (2022), section 5, and Azize et al. (2025).
INSTANCES = {
    "mu1": {"top": 0.75, "bottom": 0.7, "spacing": "one_best"},
    "mu2": {"top": 0.75, "bottom": 0.25, "spacing": "linear"},
    "mu3": {"top": 0.75, "bottom": 0.25, "spacing": "convex"},
    "mu4": {"top": 0.75, "bottom": 0.25, "spacing": "concave"},
    "mu5": {"top": 0.8, "bottom": 0.1, "spacing": "one_best"},
}
K = 5
GIVEN = ("K", "horizon", "epsilon")
# Published policies that need more parameters. DP-UCB with the exact quantile of its noise is the best of its widths.
SETTINGS: dict[str, dict[str, Any]] = {"dp_ucb": {"width": "exact"}}
# The columns that tell the blocks of the table apart: a setting is one epsilon and horizon.
SETTING = ["epsilon", "horizon"]
COLUMNS = [
    *("environment", "parameters", "K", "means", *SETTING, "instance", "rank", "policy", "own", "privacy"),
    *("regret", "low", "high", "over_bound", "difference", "difference_low", "difference_high", "tied", "mean_rank"),
    *("audit", "audit_note", "replicates", "trials", "seed"),
]


class Instance(NamedTuple):
    """An environment, its parameters and K, and the means of its arms.

    is_bernoulli: whether the lower bound of Azize et al. (2025) applies
    """

    environment: str
    parameters: Mapping[str, Any]
    means: tuple[float, ...]
    is_bernoulli: bool


def compare(
    folder: str | Path,
    *,
    epsilon: Sequence[float],
    horizon: Sequence[int],
    replicates: int,
    trials: int,
    arms: int | None = None,
    means: Sequence[float] | None = None,
    environment: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Return one row per epsilon, horizon, instance and policy, `COLUMNS`, sorted by mean regret within an instance.

    It compares the bandits in `policies/bandit/` of a folder with the published private bandits that need no further
    parameter. arms: K, by default 5. The instances are mu1 to mu5, or Bernoulli arms with these `means`, or an
    `environment` with its `parameters`. trials: per neighbouring input, in each audit; fewer for a slow policy. The
    folder's policies get the audit that fits any bandit. Published ones get their own audits, some with a multiple of
    the trials.

    `low` and `high` are the ends of the 95% interval of `regret`. `over_bound` is regret over the lower bound of Azize
    et al. (2025), Theorem 1, times ln T; nan if the arms are not Bernoulli. `difference` is from the best published
    policy, and the ends of its interval are `difference_low` and `difference_high`. The intervals of all differences
    between two policies, on all instances, are simultaneous for an epsilon and a horizon. Two policies are `tied` if
    the interval of their difference contains 0. `rank` is 1, plus 1 for each better policy and 1/2 for each tied one,
    and `mean_rank` its mean over the instances. `privacy` is what the policy's module declares as PRIVACY. `audit` is
    the verdict on the policy's privacy, `audit_note` says which audit ran in which setting, what it changed, and how
    likely it detects half of the noise.

    Raises PrivarmsError for a folder without such a bandit and for instances that do not exist.
    """
    at_least(2, replicates=replicates)
    at_least(1, horizon=horizon, trials=trials)
    positive(epsilon=epsilon)
    extensions.extend([folder])
    policies = [p for p in library.names("policies") if PolicyModule(p).family == "bandit" and _needs_nothing(p)]
    theirs = [p for p in library.names("policies") if PolicyModule(p).in_extension]
    if others := [p for p in theirs if p not in policies]:
        print(f"not compared, because they are no bandits or need parameters: {', '.join(others)}", file=sys.stderr)
    if not (own := [p for p in theirs if p in policies]):
        expected = f"expected a module in policies/bandit/ whose configure needs at most {', '.join(GIVEN)}"
        raise PrivarmsError(f"{folder}: {expected}; found none")
    policies = [p for p in policies if p in own or PolicyModule(p).claims_epsilon]
    epsilon, horizon = list(dict.fromkeys(epsilon)), list(dict.fromkeys(horizon))
    chosen = _chosen(arms, means, environment, parameters)
    instances = {name: _instance(policies[0], *one) for name, one in chosen.items()}
    parts = []
    for budget, rounds in itertools.product(epsilon, horizon):
        for name, instance in instances.items():
            runs = _runs(policies, name, instance, budget, rounds, replicates)
            best = min((p for p in policies if p not in own), key=lambda p: runs[p].mean())
            ranked = ranks.ranked(runs, best, rounds * np.ptp(instance.means), len(instances))
            ranked["over_bound"] = ranked["regret"] / (_bound(instance, budget) * np.log(rounds))
            own_parameters = {k: v for k, v in instance.parameters.items() if k not in ("K", "arm_means")}
            about = {"environment": instance.environment, "parameters": assigned(own_parameters)}
            about |= {"K": len(instance.means), "means": " ".join(map(shown, instance.means)), "instance": name}
            parts.append(ranked.assign(epsilon=budget, horizon=rounds, **about))
    audits = [_audited(p, p in own, budget, trials) for budget in epsilon for p in policies]
    rows = pd.concat(parts, ignore_index=True).merge(pd.DataFrame(audits), on=["policy", "epsilon"], validate="m:1")
    rows["mean_rank"] = rows.groupby([*SETTING, "policy"])["rank"].transform("mean")
    promised = {p: privacy.privacy(p) if PolicyModule(p).claims_epsilon else "" for p in policies}
    rows = rows.assign(own=rows["policy"].isin(own), privacy=rows["policy"].map(promised))
    return rows.assign(replicates=replicates, seed=audit_now.SEED)[COLUMNS]


def _needs_nothing(policy: str) -> bool:
    known = (*GIVEN, *SETTINGS.get(policy, ()))
    return all(name in known for name, a in PolicyModule(policy).arguments.items() if a.required)


def _chosen(
    arms: int | None, means: Sequence[float] | None, environment: str | None, parameters: Mapping[str, Any] | None
) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the environment and the parameters of each instance, by its name."""
    if parameters and environment is None:
        raise PrivarmsError("--set: expected --environment too, whose parameters it sets; found none")
    if means is not None and environment is not None:
        raise PrivarmsError("--means, --environment: expected one of the two; found both")
    if environment is not None:
        fitting = filter(_has_arms, library.names("environments"))
        check_known("--environment", "environment with arms of known means", environment, list(fitting))
        given = {"K": arms or K} | dict(parameters or {})
        takes = EnvironmentModule(environment).arguments
        for name in parameters or {}:
            check_known("--set", f"parameter of {environment}", name, takes)
        if missing := [
            name for name, argument in takes.items() if argument.required and name not in (*given, "horizon")
        ]:
            raise PrivarmsError(
                f"--environment: {environment} needs {', '.join(missing)}; add --set {missing[0]}=VALUE"
            )
        return {environment: (environment, given)}
    if means is None:
        return {name: ("bernoulli", {"K": arms or K} | values) for name, values in INSTANCES.items()}
    if len(means) < 2 or arms not in (None, len(means)):
        raise PrivarmsError(f"--means: expected {arms or 'at least 2'} numbers, one per arm; found {len(means)}")
    if min(means) < 0 or max(means) > 1:
        raise PrivarmsError(f"--means: expected numbers in [0, 1]; found {', '.join(map(str, means))}")
    own = {"top": max(means), "bottom": min(means), "arm_means": " ".join(map(str, means))}
    return {"arms": ("bernoulli", {"K": len(means)} | own)}


def _has_arms(environment: str) -> bool:
    """Return whether an environment has a mean per arm, as far as the result of its `configure` is declared."""
    configure = EnvironmentModule(environment).declared("configure")
    if configure is None:
        return False
    configure = getattr(configure, "py_func", configure)
    fields = getattr(inspect.signature(configure, eval_str=True).return_annotation, "_fields", ("pull", "means"))
    return {"pull", "means"} <= set(fields)


def _instance(policy: str, environment: str, parameters: Mapping[str, Any]) -> Instance:
    """Return an instance; one short run of a policy finds every fault of its parameters."""
    short = {"horizon": parameters["K"], "replicates": 1, "checkpoints": 1}
    rows = interactive.simulate(policy, environment, **short, **parameters, **SETTINGS.get(policy, {}))
    configured = environment_of(rows.iloc[0])
    means = tuple(map(float, configured.means))
    if not np.ptp(means) > 0:
        option = "--means" if "arm_means" in parameters else f"--environment {environment}"
        raise PrivarmsError(f"{option}: expected arms with different means; found {', '.join(map(str, means))}")
    return Instance(environment, parameters, means, configured.pull is bernoulli.pull)


def _bound(instance: Instance, epsilon: float) -> float:
    if not instance.is_bernoulli:
        return np.nan
    try:
        return lower_bounds.azize(list(instance.means), epsilon)
    except ValueError as error:
        raise PrivarmsError(f"--{error}") from None


def _audited(policy: str, own: bool, epsilon: float, trials: int) -> dict[str, Any]:
    """Return the columns `audit` and `audit_note` of a policy; a remark for one without an epsilon."""
    about = {"policy": policy, "epsilon": epsilon, "trials": 0}
    if not PolicyModule(policy).claims_epsilon:
        return about | {"audit": "claims no privacy", "audit_note": ""}
    if privacy.privacy(policy) == privacy.JOINT:
        return about | {"audit": verdicts.NOT_AUDITED, "audit_note": "No audit here is about joint privacy."}
    if own:
        cells = audit_now.affordable(audit_now.fitting_cells(policy, trials, epsilon), trials)
    else:
        cells = audit_now.own_cells(policy, trials, epsilon)
    counted = f"{cells[0].replicates:,} trials per input"
    print(f"audit of {policy}, epsilon = {epsilon:g}: {counted}", file=sys.stderr, flush=True)
    try:
        line = verdicts.summary(audit_now.results(cells)).iloc[0]
    except PrivarmsError as error:
        # The ranks are there, and a policy of one's own may be unfit for the sizes of the audit.
        return about | {"audit": verdicts.NOT_AUDITED, "audit_note": str(error), "trials": 0}
    note = f"Audit {line['audit']} with {line['setting']}. {line['note']}"
    return about | {"audit": line["verdict"], "audit_note": note, "trials": cells[0].replicates}


def _runs(
    policies: list[str], name: str, instance: Instance, epsilon: float, horizon: int, replicates: int
) -> dict[str, np.ndarray]:
    """Return the regret of each run of each policy, float64[replicates]."""
    setting = f"{name}, K = {len(instance.means)}, epsilon = {epsilon:g}, T = {horizon:,}"
    print(f"simulate {len(policies)} policies: {setting}", file=sys.stderr, flush=True)
    given = dict(instance.parameters) | {
        "epsilon": epsilon,
        "horizon": horizon,
        "replicates": replicates,
        "checkpoints": 1,
    }
    runs = {}
    for policy in policies:
        rows = interactive.simulate(policy, instance.environment, **given, **SETTINGS.get(policy, {}))
        runs[policy] = rows.sort_values("replicate")["regret"].to_numpy()
    return runs


def draw(rows: pd.DataFrame) -> Figure:
    """Return a figure with one panel per epsilon and horizon, one line per policy and one colour per instance.

    The points are regret divided by its lower bound, or regret if the arms are not Bernoulli.
    """
    bounded = bool(rows["over_bound"].notna().all())
    scale = rows["over_bound"] / rows["regret"] if bounded else 1.0
    shown_rows = rows.assign(value=rows["regret"] * scale, low=rows["low"] * scale, high=rows["high"] * scale)
    # The axis is logarithmic.
    shown_rows["low"] = shown_rows["low"].clip(lower=shown_rows["value"] / 20)
    settings = list(shown_rows.groupby(SETTING, sort=False))
    names = list(dict.fromkeys(rows["instance"]))
    looks = style.looks(names, names)
    lines = 1 if len(settings) <= 2 else 2
    per_panel = rows["policy"].nunique() * max(0.34, 0.16 + 0.06 * len(names)) + 0.6
    down = -(-len(settings) // lines)
    height = min(down * per_panel, facets.HIGHEST)
    width = style.COLUMN if lines == 1 else style.PAGE
    figure, axes = style.subplots(down, lines, width=width, height=height, squeeze=False, sharex=True)
    for ax in axes.flat[len(settings) :]:
        ax.remove()
    for ax, ((epsilon, horizon), some) in zip(axes.flat, settings, strict=False):
        firsts = some.drop_duplicates("policy").sort_values("mean_rank", kind="stable")
        order = firsts["policy"].tolist()
        place = facets.dodged(some["policy"].map(order.index).astype(float), some["instance"], most=0.16)
        for name, part in some.assign(place=place).groupby("instance", sort=False):
            label = f"{name}: {_in_words(part['means'].iloc[0].split())}"
            facets.points(ax, part, "value", "place", along="x", label=label, **looks[name])
        if bounded:
            ax.axvline(1, label="asymptotic lower bound (Azize et al. 2025)", **style.LEVEL)
        ax.set(xscale="log", xlabel="regret / lower bound" if bounded else "regret")
        ax.set_title(f"ε = {epsilon:g}, T = {horizon:,}", fontsize=8)
        ax.tick_params(labelbottom=True)
        facets.name_lines(ax, map(_label, firsts.to_dict("records")), fontsize=style.SMALL)
        for text, is_own in zip(ax.get_yticklabels(), firsts["own"], strict=True):
            text.set_fontweight("bold" if is_own else "normal")
    for ax in axes.flat[: len(settings)]:
        style.log_ticks(ax.xaxis)
    figure.suptitle(textwrap.fill(_title(rows), int(17 * width)), fontsize=8)
    style.legend(figure, columns=1 if lines == 1 else 2)
    return figure


def _title(rows: pd.DataFrame) -> str:
    """Return what was run."""
    first = rows.iloc[0]
    arms = f"{first['K']} Bernoulli arms" if rows["over_bound"].notna().all() else f"{first['K']} arms"
    own = f"{first['environment']} ({first['parameters']}), " if rows["instance"].nunique() == 1 else ""
    own = "" if first["instance"] == "arms" else own
    what = f"{own}{arms}, mean of {first['replicates']:,} runs with 95% interval"
    return f"{what}; your own policies are bold"


def _in_words(means: Sequence[str]) -> str:
    """Return arms' means as text: the first five and the last, and equal ones as a product."""
    groups = [(mean, len(list(same))) for mean, same in itertools.groupby(f"{float(mean):.3g}" for mean in means)]
    words = [mean if number == 1 else f"{number} × {mean}" for mean, number in groups]
    return ", ".join(words if len(words) <= 6 else [*words[:4], "...", words[-1]])


def _label(row: Mapping) -> str:
    """Return the label of a policy in a panel, with its mark and, if there is one to give, a remark on its audit."""
    remarks = (verdicts.NOT_PRIVATE, verdicts.NOT_AUDITED, verdicts.NOT_CAUGHT)
    remark = f"\n({row['audit']})" if row["audit"] in remarks else ""
    return f"{PolicyModule(row['policy']).label}{_mark(row['privacy'])}{remark}"


def _mark(privacy: str) -> str:
    """Return the mark of a policy whose privacy is not that of most others."""
    return "" if privacy in ("", "pure") else f" ({privacy})"


def described(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines that the command prints, per setting: policies by mean rank, audits, a table per instance."""
    for (epsilon, horizon), block in rows.groupby(SETTING, sort=False):
        setting = f"epsilon = {epsilon:g}, T = {horizon:,}"
        first = block.drop_duplicates("policy").sort_values("mean_rank", kind="stable").to_dict("records")
        yield f"{setting}: mean rank, policy, audit:"
        yield from (f"  {r['mean_rank']:4.1f}  {r['policy']}{_mark(r['privacy'])}  {r['audit']}" for r in first)
        for instance, some in block.groupby("instance", sort=False):
            bounded = some["over_bound"].notna().all()
            means = _in_words(some["means"].iloc[0].split())
            yield f"{instance} (means {means}), {setting}:"
            times = "times the lower bound, " if bounded else ""
            yield f"  rank, policy, regret [95% interval], {times}difference from the best published policy, tied with:"
            for r in some.to_dict("records"):
                parts = [f"{r['rank']:4.1f}", r["policy"], f"{r['regret']:,.0f} {_interval(r['low'], r['high'])}"]
                parts += [f"{r['over_bound']:.2f}"] if bounded else []
                difference = f"{r['difference']:+,.0f} {_interval(r['difference_low'], r['difference_high'])}"
                parts += [difference if r["difference"] else "the best published"]
                parts += [f"tied with {r['tied'].replace(' ', ', ')}"] if r["tied"] else []
                yield f"  {'  '.join(parts)}"
    if rows["over_bound"].isna().any():
        yield "no lower bound, because it holds for Bernoulli arms only"
    yield "what the audits show:"
    for r in rows.drop_duplicates(["policy", "epsilon"]).sort_values(["epsilon", "mean_rank"]).to_dict("records"):
        if r["audit_note"]:
            yield f"  {r['policy']}, epsilon = {r['epsilon']:g}: {r['audit']}. {r['audit_note']}"


def _interval(low: float, high: float) -> str:
    return f"[{low:,.0f}, {high:,.0f}]"


def show(folder: Path, output: Path, **options) -> int:
    """Compare, print, and write `output`.csv, .png, .pdf and .svg; return 1 if an own policy failed its audit.

    options: those of `compare`
    """
    rows = compare(folder, **options)
    print("\n".join(described(rows)))
    style.use_style()
    files = style.save(draw(rows), rows, output)
    print(f"table: {files['csv']}\npicture: {files['png']}")
    return int((rows.loc[rows["own"], "audit"] == verdicts.NOT_PRIVATE).any())
