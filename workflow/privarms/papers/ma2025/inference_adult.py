"""What Adult's entries of Table 2 depend on: the entries as open choices are changed, one at a time."""

import numpy as np
import pandas as pd

from privarms.inference.intervals import ratio
from privarms.papers.ma2025._table2 import at_times, named, reference, repeated
from privarms.plots.tables import shown
from privarms.studies.results import Results

ADULT = "adult"
MAIN = "as in Table 2"
# Other preparations of the dataset; one that is not here is called by its name.
PREPARATIONS = {
    "adultmarital": "sources by marital status",
    "adultone": "one source",
    "adultcopies": "seven copies of the rows",
    "adultall": "reduction fitted on all rows",
}
# A parameter that is not here is called by its name, with its value behind.
SAID = {"batch": "batches of {}", "learnt": "{} source alone", "lipschitz": "L = {}", "horizon": "{} users"}
KEYS = ["data", "epsilon", "epsilon_aux", "time", "method", "auxiliary"]


def adult_alternatives(results: Results) -> pd.DataFrame:
    """Return Adult's entries under each alternative, without LDPMAB as printed; no ratio where ABSE did not run."""
    main = results.cells("real_data")
    main = main[(main["dataset"] == ADULT)]
    base = _absse(results.cells("real_data_reference"), ADULT)
    usual = base[base["title"] == ""]
    parts = [_entries(main, usual, "")]
    others, references = results.cells("adult_sensitivity"), results.cells("adult_sensitivity_reference")
    known = [d for d in PREPARATIONS if d in set(others["dataset"])]
    for dataset in dict.fromkeys([*known, *others["dataset"]]):
        own = _absse(references, dataset)
        title = PREPARATIONS.get(dataset, dataset)
        parts.append(_entries(others[others["dataset"] == dataset], own[own["title"] == ""], title, first=main))
    parts.append(_entries(results.cells("adult_settings"), usual, "", first=main))
    changed = pd.concat([own[own["title"] != ""] for own in (_absse(references, ADULT), base)])
    for title, own in changed.groupby("title", sort=False):
        # Of one change at a time.
        found = _entries(main, own.drop_duplicates(["horizon", "t"]), f"ABSE: {title}")
        parts.append(found[found["alternative"] == f"ABSE: {title}"])
    table = pd.concat(parts, ignore_index=True)
    # An alternative is one block, in the order in which it first appears.
    order = {title: i for i, title in enumerate(table["alternative"].unique())}
    return table.sort_values("alternative", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def _absse(cells: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return ABSE's runs on one dataset: horizon, t, base, base_se, title (empty with its default constants)."""
    cells = cells[(cells["policy"] == "absse") & (cells["dataset"] == dataset)]
    own = [k for k in ("smoothness", "lipschitz") if k in cells]
    titles = [_title({k: row[k] for k in own if pd.notna(row[k])}) for _, row in cells.iterrows()]
    titles = pd.Series(titles, cells.index, dtype=object)
    parts = [reference(part).assign(title=title) for title, part in cells.groupby(titles, sort=False)]
    return pd.concat(parts or [reference(cells).assign(title="")])[["horizon", "t", "base", "base_se", "title"]]


def _entries(cells: pd.DataFrame, base: pd.DataFrame, title: str, first: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the entries of some cells by alternative: the title, and what is changed in the cells themselves."""
    usual = None if first is None else named(first)
    cells = named(at_times(cells), usual)
    cells = cells[cells["variant"] != "as_printed"]
    horizon = (cells if first is None else first)["horizon"]
    changed = [_changed(row, horizon.iloc[0]) for _, row in cells.iterrows()] if len(cells) else []
    cells = cells.assign(alternative=[", ".join(filter(None, (title, own))) or MAIN for own in changed])
    parts = [repeated(part) for _, part in cells.groupby("alternative", sort=False)]
    found = pd.concat(parts).merge(base[["horizon", "t", "base", "base_se"]], on=["horizon", "t"], how="left")
    base, base_se = (found[k].where(found["base"] > 0).astype(float) for k in ("base", "base_se"))
    found["ratio"], found["se"] = ratio(found["reward_mean"], found["reward_se"], base, base_se)
    return found[[*KEYS, "ratio", "se", "replicates", "alternative"]]


def _changed(row: pd.Series, horizon: int) -> str:
    """Return what is changed in a cell, in words."""
    given = [one.split(" ", 1) for one in row["setting"].split(", ") if one]
    return _title(dict(given) | ({"horizon": f"{row['horizon']:,}"} if row["horizon"] != horizon else {}))


def _title(parameters: dict) -> str:
    return ", ".join(
        SAID.get(k, f"{k} {{}}").format(v if isinstance(v, str) else shown(v)) for k, v in parameters.items()
    )


def elsewhere(table: pd.DataFrame, keys: dict) -> pd.DataFrame:
    """Return the alternatives' entries with some keys, where there is a ratio."""
    chosen = (table["alternative"] != MAIN) & table["ratio"].notna()
    for column, value in keys.items():
        chosen &= table[column] == value
    return table[np.asarray(chosen)]
