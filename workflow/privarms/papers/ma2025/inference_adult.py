"""Adult's entries of Table 2 with one open choice changed at a time."""

import pandas as pd

from privarms.inference.intervals import ratio
from privarms.inference.rows import as_frame
from privarms.papers.ma2025._table2 import at_times, named, repeated
from privarms.studies.results import Results

ADULT = "adult"
MAIN = "as in Table 2"
# The text of a choice, if its name is not enough.
CHOICES = {
    "adultmarital": "sources by marital status",
    "adultone": "one source",
    "adultcopies": "seven copies of the rows",
    "adultall": "reduction fitted on all rows",
    "learnt first": "first source alone",
}
KEYS = ["data", "epsilon", "epsilon_aux", "time", "method", "auxiliary"]


@as_frame
def adult_alternatives(results: Results) -> pd.DataFrame:
    """Return Adult's entries under each alternative, without LDPMAB as printed; no ratio if ABSE did not run."""
    main = results.cells("real_data")
    main = main[main["dataset"] == ADULT]
    references = [results.cells(study) for study in ("real_data_reference", "adult_sensitivity_reference")]
    absse = pd.concat([named(cells[cells["policy"] == "absse"]) for cells in references], ignore_index=True)
    for cells in (main, results.cells("adult_sensitivity"), results.cells("adult_settings")):
        cells = named(at_times(cells), first=named(main))
        for (dataset, setting), part in cells.groupby(["dataset", "setting"], sort=False):
            changed = [CHOICES.get(name, name) for name in (dataset if dataset != ADULT else "", setting) if name]
            base = absse[(absse["dataset"] == dataset) & (absse["settings"] == "")]
            yield _entries(part, base, ", ".join(changed) or MAIN)
    main = named(at_times(main))
    for setting, base in absse[(absse["dataset"] == ADULT) & (absse["settings"] != "")].groupby("settings", sort=False):
        yield _entries(main[main["setting"] == ""], base, f"ABSE: {setting}")


def _entries(cells: pd.DataFrame, absse: pd.DataFrame, alternative: str) -> pd.DataFrame:
    """Return the ratios of some cells to ABSE's runs in one setting."""
    absse = absse.drop_duplicates("t").rename(columns={"reward_mean": "base", "reward_se": "base_se"})
    rows = repeated(cells[cells["variant"] != "as_printed"]).merge(absse[["t", "base", "base_se"]], on="t", how="left")
    base, base_se = (rows[k].where(rows["base"] > 0).astype(float) for k in ("base", "base_se"))
    rows["ratio"], rows["se"] = ratio(rows["reward_mean"], rows["reward_se"], base, base_se)
    return rows[[*KEYS, "ratio", "se", "replicates"]].assign(alternative=alternative)
