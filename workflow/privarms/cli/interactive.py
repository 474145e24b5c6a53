"""Simulate, audit and compare policies from Python, with the kernels and random streams of the pipeline."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from os import PathLike
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from privarms.audits import verdicts
from privarms.cli import arguments, audit_now
from privarms.errors import PrivarmsError
from privarms.execution import run
from privarms.execution.cell import Cell, Piece
from privarms.files.model import checked
from privarms.inference import correction
from privarms.jit import cache
from privarms.planning.cells import expand
from privarms.planning.labels import in_words
from privarms.planning.studies import Study, listed
from privarms.plots import facets, style
from privarms.plots.curves import with_interval
from privarms.registry import contract, extensions, library
from privarms.registry.modules import EnvironmentModule, PolicyModule, ProtocolModule

Folders = str | PathLike | Sequence[str | PathLike]

# Replicates that share a random stream.
BLOCK = 10
# Figure 1 of Sajed and Sheffet (2019).
ARMS = {"top": 0.75, "bottom": 0.25}

# The arguments of `simulate` that are no parameters of policies and environments.
OWN = ("epsilon", "horizon", "replicates", "checkpoints", "seed", "protocol", "extension", "name")

correct = arguments.public(correction.correct)


@arguments.public
def simulate(
    policy: str | object,
    environment: str = "bernoulli",
    *,
    epsilon: float | Sequence[float] = 1.0,
    horizon: int | Sequence[int] = 100_000,
    replicates: int = 100,
    checkpoints: int = 50,
    seed: int = audit_now.SEED,
    protocol: str | None = None,
    extension: Folders | None = None,
    name: str | None = None,
    **parameters,
) -> pd.DataFrame:
    """Return the recorded rows of runs of one policy in one environment.

    Parameters
    ----------
    policy, environment : names of modules in `policies/` and `environments/`, or in the extension. The policy may also
        be a class, a module or another object with LABEL, `configure` and the functions of its family, compiled or not.
        Its attribute FAMILY names the family, by default "bandit"
    epsilon : privacy budget, > 0; a policy without this parameter ignores it
    horizon, replicates : number of rounds per run, and number of runs
    checkpoints : number of recorded rounds, equally spaced on a logarithmic axis; the last one is the horizon
    seed : master seed, >= 0
    protocol : name of a module in `protocols/` that runs the policy's family, such as `changing_arms`; by default the
        one with the family's name
    extension : folder with modules of your own, or a list of folders, for this call only; after an edit the next call
        runs the edited modules
    name : name of a policy that is an object, by default that of its class or module; it selects the random streams
    parameters : of policy and environment, such as `K=5`, `top=0.75`, `bottom=0.25`; a list, a range or an array runs
        each of its values, as it does for `epsilon` and `horizon`

    Returns
    -------
    DataFrame
        Columns `policy`, `environment`, the parameters, `replicate`, `t` and the protocol's records. By default
        `regret` is among them, the cumulative pseudo-regret after round t.

    Raises
    ------
    PrivarmsError
        For an unknown name, a parameter that is missing, unknown or out of range, or a file of privarms itself that was
        edited after its import.
    """
    plain = arguments.plain
    epsilon = arguments.one_or_more("epsilon", plain(epsilon), arguments.positive)
    horizon = arguments.one_or_more("horizon", plain(horizon), arguments.whole, 1)
    replicates = arguments.whole("replicates", plain(replicates), 1)
    checkpoints = arguments.whole("checkpoints", plain(checkpoints), 1, arguments.MOST_CHECKPOINTS)
    seed = arguments.whole("seed", plain(seed), 0, math.inf)
    parameters = {key: plain(value) for key, value in parameters.items()}
    with _using(extension), _by_name(policy, name) as policy:
        environment = arguments.known("environment", plain(environment), library.names("environments"))
        if EnvironmentModule(environment).needs_dataset:
            raise PrivarmsError(f"environment: {environment} needs a dataset, and no argument provides one")
        family = PolicyModule(policy).family
        protocols = [p for p in library.names("protocols") if ProtocolModule(p).family == family]
        # A family may have several protocols. The protocol with the family's name measures regret.
        if protocol is None:
            protocol = family if family in protocols else protocols[0]
        protocol = arguments.known("protocol", protocol, protocols)
        contract.check("policy", PolicyModule(policy), ProtocolModule(protocol), EnvironmentModule(environment))
        takes = {**EnvironmentModule(environment).arguments, **PolicyModule(policy).arguments}
        values = {"K": 5, **ARMS} if environment == "bernoulli" else {}
        values |= arguments.parameters(parameters, policy, environment, (*OWN, *values))
        most, least = max(listed(values.get("K", 0))), min(listed(horizon))
        if most > least:
            raise arguments.refuse("horizon", f"at least the number of arms, K = {most}", least)
        study = {
            "protocol": protocol,
            "environment": {"name": environment},
            "policies": [{"policy": policy}],
            "grid": ({"epsilon": epsilon} if "epsilon" in takes else {}) | values | {"horizon": horizon},
            "replicates": replicates,
            "block": BLOCK,
            **({"checkpoints": {"count": checkpoints, "first": 1}} if checkpoints > 1 else {}),
        }
        frames = []
        for cell in expand("arguments", "interactive", "simulate", checked(Study, study, "arguments")):
            rows = run.run_piece(Piece(cell, 0, cell.blocks), seed, {}).to_pandas()
            frames.append(pd.DataFrame(_about(cell), index=rows.index).join(rows.drop(columns="cell")))
        return pd.concat(frames, ignore_index=True)


def _about(cell: Cell) -> dict:
    """Return what a cell runs: the first columns of its rows."""
    return {"policy": cell.policy, "environment": cell.environment, **cell.parameters, "horizon": cell.horizon}


@arguments.public
def audit(
    policy: str | object,
    *,
    epsilon: float = 1.0,
    trials: int | None = None,
    thorough: bool = False,
    extension: Folders | None = None,
    name: str | None = None,
) -> pd.DataFrame:
    """Return the verdicts on a policy's privacy, from the audit that fits any policy of its family.

    Parameters
    ----------
    policy : name of a module in `policies/` or in the extension, or an object as in `simulate`, with a parameter
        `epsilon`
    epsilon : claimed privacy budget, > 0
    trials : number of counted runs with each of two neighbouring inputs, per setting; by default 20,000, or as many
        as a minute allows if the policy is slow
    thorough : whether up to 200,000 trials may take ten minutes, unless `trials` says how many
    extension : as in `simulate`
    name : as in `simulate`

    Returns
    -------
    DataFrame
        One row per setting: `verdict`, `claimed_epsilon`, `lower_bound` (of the privacy loss, valid with probability
        `level`), `power_against_half_noise`, `note`, ... as in audit.csv.

    Raises
    ------
    PrivarmsError
        For an unknown policy, a policy without an epsilon or with joint privacy, or a family without such an audit.
    """
    if not isinstance(arguments.plain(thorough), bool):
        raise arguments.refuse("thorough", "True or False", thorough)
    epsilon = arguments.positive("epsilon", arguments.plain(epsilon))
    count = audit_now.TRIALS if trials is None else arguments.whole("trials", arguments.plain(trials), 1)
    with _using(extension), _by_name(policy, name) as policy:
        cells = audit_now.fitting_cells(policy, count, float(epsilon))
        if trials is None:
            cells = audit_now.affordable(cells, *(audit_now.THOROUGH if thorough else audit_now.LIMITS))
        return audit_now.results(cells)[list(verdicts.COLUMNS)]


@arguments.public
def compare(policies: str | Mapping | object | Iterable, environment: str = "bernoulli", **options) -> Figure:
    """Return a figure of the mean regret of several policies, with 95% intervals, on the same instance.

    There is one curve per setting: per policy, and per value if an option is a list. The figure has its own style; the
    settings of matplotlib do not change, and pyplot does not keep the figure.

    Parameters
    ----------
    policies : names or objects as in `simulate`, or mappings with `policy` and options of its own
    environment, options : those of `simulate`

    Raises
    ------
    PrivarmsError
        As `simulate`, and for runs without `t` and `regret`.
    """
    entries: list[Any] = [policies]
    if isinstance(policies, Iterable) and not isinstance(policies, str | Mapping | type):
        entries = list(policies)
    curves: list[tuple[dict, dict, pd.DataFrame]] = []
    objects: dict[str, object] = {}
    for entry in entries:
        entry = dict(entry) if isinstance(entry, Mapping) else {"policy": entry}
        if "policy" not in entry or not all(isinstance(key, str) for key in entry):
            expected = "the key 'policy' and names of arguments in each mapping"
            raise arguments.refuse("policies", expected, entry)
        given: dict[str, Any] = {"environment": environment} | options | entry
        given = {key: arguments.plain(value) for key, value in given.items()}
        folders = arguments.folders(given.get("extension"))
        given["extension"] = ", ".join(map(str, folders))
        policy = entry["policy"]
        in_use: dict[str, Any] = {**given, "extension": None}
        with _using(folders):
            rows = simulate(**in_use)
            label = PolicyModule(policy).label if isinstance(policy, str) else policy.LABEL
        if objects.setdefault(rows["policy"].iloc[0], policy) is not policy and not isinstance(policy, str):
            name = rows["policy"].iloc[0]
            raise PrivarmsError(f"two policies have the name {name!r}; give each its own with `name`")
        if not {"t", "regret"} <= set(rows):
            raise PrivarmsError(f"expected runs with `t` and `regret`; found {', '.join(rows.columns)}")
        inputs = [*rows.columns[: rows.columns.get_loc("replicate")]]
        for values, part in rows.groupby(inputs, sort=False, dropna=False):
            # A setting is all that a curve depends on, so the same runs are one curve.
            setting = given | dict(zip(inputs, values, strict=True))
            if all(setting != other for other, *_ in curves):
                curves.append((setting, entry | {"policy": label}, part))
    if not curves:
        raise arguments.refuse("policies", "at least one policy", entries)
    labels = _labels([setting for setting, *_ in curves], [entry for _, entry, _ in curves])
    parts = [part[["t", "regret"]].assign(curve=label) for label, (*_, part) in zip(labels, curves, strict=True)]
    groups = pd.concat(parts, ignore_index=True).groupby(["curve", "t"], sort=False)["regret"]
    means = groups.agg(regret_mean="mean", regret_se="sem", replicates="size").reset_index()
    means = with_interval(means, "regret_mean", "regret_se")
    with style.styled():
        figure, ax = style.subplots(width=style.COLUMN, height=2.4)
        ax.set(xscale="log", xlabel="round $t$", ylabel="mean cumulative pseudo-regret")
        looks = style.looks(labels)
        for label, part in means.groupby("curve", sort=False):
            facets.band(ax, part, "t", "regret_mean", label=label, **looks[label])
        style.legend(figure, columns=2)
        # Matplotlib makes ticks when it draws, so draw while the style is in use.
        figure.draw_without_rendering()
    return figure


def _labels(settings: list[dict], entries: list[dict]) -> list[str]:
    """Return the label of each curve: the policy, its entry's own options and what varies between its curves."""
    labels, whole = [], []
    for setting, entry in zip(settings, entries, strict=True):
        same = [other for other in settings if other["policy"] == setting["policy"]]
        varying = (k for k in setting if any(other.get(k) != setting[k] for other in same))
        keys = [k for k in dict.fromkeys([*entry, *varying]) if k not in ("policy", "name")]
        shown = {k: setting[k] for k in keys if k != "extension"}
        labels.append(f"{entry['policy']} ({in_words(shown)})" if shown else entry["policy"])
        whole.append(", ".join([setting["policy"], *(f"{k} = {setting[k]}" for k in keys)]))
    # Two policies may have one label, two extensions one policy, and two values one text of a few digits.
    return [f"{one}, {more}" if labels.count(one) > 1 else one for one, more in zip(labels, whole, strict=True)]


@contextmanager
def _by_name(policy: Any, name: Any) -> Iterator[str]:
    """Yield the name by which the library finds a policy, which may be an object."""
    arguments.policy(policy)
    if isinstance(policy, str):
        arguments.known("policy", policy, library.names("policies"))
        if name is not None:
            raise PrivarmsError(f"name: expected none for a policy of a file; found {name!r}. Remove it")
        yield policy
        return
    if name is not None:
        arguments.text("name", name, "a name for the policy")
    own = name or getattr(policy, "__name__", "").rpartition(".")[2]
    taken = own in (*library.names("policies"), *library.names("mechanisms"))
    if taken and PolicyModule(own).module is policy:
        yield own
        return
    if not own or taken:
        why = f"a policy of the library has the name {own!r}" if own else f"{type(policy).__name__} has no name"
        raise PrivarmsError(f"{why}, and the name selects the random streams; add name='...'")
    with library.given(policy, own):
        yield own


@contextmanager
def _using(extension: Any) -> Iterator[None]:
    """Use extensions for a while, import again what was edited in them, and cache kernels from now on."""
    folders = arguments.folders(extension)
    with extensions.only(folders, "extension") if folders else nullcontext():
        library.refresh()
        cache.use(library.imported_texts)
        yield
