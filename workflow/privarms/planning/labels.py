"""The cells of a study in words: what varies between them, and the labels of their curves and rows."""

from collections.abc import Mapping, Sequence

import pandas as pd

from privarms.files.numbers import shown
from privarms.planning.results import environment_of
from privarms.registry.modules import EnvironmentModule, PolicyModule


def settings(cells: pd.DataFrame, apart_from: Sequence[str] = ("epsilon",)) -> list[dict]:
    """Return one mapping per row: what varies between the policy's cells, except the parameters `apart_from`."""
    cells = cells.reset_index(drop=True)
    own: dict[int, dict] = {}
    for policy, part in cells.groupby("policy", sort=False, observed=True):
        columns = _parameters(str(policy), part)
        varying = [k for k in columns if k not in apart_from and part[k].nunique(dropna=False) > 1]
        for index, *values in part[varying].itertuples():
            own[index] = {k: v for k, v in zip(varying, values, strict=True) if pd.notna(v)}
    return [own[index] for index in cells.index]


def _parameters(policy: str, cells: pd.DataFrame) -> list[str]:
    """Return the columns with parameters of a policy or of its environments."""
    own = [*PolicyModule(policy).arguments]
    environments = cells["environment"].unique() if "environment" in cells else ()
    around = [k for e in environments for k in EnvironmentModule(e).arguments]
    return [k for k in dict.fromkeys(("variant", *own, "environment", *around, "horizon")) if k in cells]


def in_words(own: Mapping) -> str:
    """Return settings as text for a legend; only numbers have their names."""
    return ", ".join(v.replace("_", " ") if isinstance(v, str) else f"{k} = {shown(v)}" for k, v in own.items())


def labels(cells: pd.DataFrame, apart_from: Sequence[str] = ("epsilon",)) -> pd.Series:
    """Return the curve of each row: the policy's LABEL and the settings that distinguish its curves.

    Call it on the whole study before you choose the rows of a panel. A curve then has the same label in every panel.
    """
    policies = {p: PolicyModule(p).label for p in cells["policy"].unique()}
    shared = {p for p, label in policies.items() if list(policies.values()).count(label) > 1}
    curves = []
    for policy, own in zip(cells["policy"], settings(cells, apart_from), strict=True):
        words = [policy] if policy in shared else []
        own = {k: PolicyModule(policy).words.get(v, v) for k, v in own.items()}
        words += [in_words(own)] if own else []
        curves.append(f"{policies[policy]} ({', '.join(words)})" if words else policies[policy])
    return pd.Series(curves, cells.index, dtype=object)


def assigned(own: Mapping) -> str:
    """Return settings as text for a table: "noise=0.5 width=exact"."""
    return " ".join(f"{k}={v}" if isinstance(v, str) else f"{k}={v:g}" for k, v in own.items())


def entries(cells: pd.DataFrame, apart_from: Sequence[str]) -> list[str]:
    """Return the policy of each row with its `settings`, as tables name it: "dp_se noise=0.5"."""
    named = zip(cells["policy"], settings(cells, apart_from), strict=True)
    return [f"{policy} {assigned(own)}".strip() for policy, own in named]


def parameters(cells: pd.DataFrame) -> pd.DataFrame:
    """Return one row of parameters per cell, indexed by cell, without measured columns."""
    columns = [c for c in cells.columns[: cells.columns.get_loc("replicates")] if c not in ("t", "arm")]
    return cells[columns].drop_duplicates("cell").set_index("cell")


def described(cells: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell, without measured columns: parameters, replicates, instance, curve and means.

    instance: name of the grid; curve: label in legends; means: tuple of the arms' means, empty if they have none
    """
    columns = list(cells.columns)
    columns = [c for c in columns[: columns.index("replicates") + 1] if c not in ("t", "arm")]
    cells = cells[columns].drop_duplicates("cell", ignore_index=True)
    around = [k for e in cells["environment"].unique() for k in EnvironmentModule(e).arguments if k != "variant"]
    return cells.assign(
        instance=[name or "unnamed" for name in cells["panels"].fillna("")],
        curve=labels(cells, ("epsilon", "horizon", "K", "environment", *around)),
        means=pd.Series([_means(cell) for cell in cells.to_dict("records")], cells.index, dtype=object),
    )


def _means(cell: Mapping) -> tuple[float, ...]:
    if EnvironmentModule(cell["environment"]).needs_dataset:
        return ()
    return tuple(float(m) for m in getattr(environment_of(cell), "means", ()))
