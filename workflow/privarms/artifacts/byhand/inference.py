"""What is computed from the studies before anything is drawn or judged."""

import numpy as np
import pandas as pd

from privarms.artifacts.byhand._expected import every_history, first_epoch, without_chance
from privarms.artifacts.byhand._indices import RULES
from privarms.artifacts.byhand._pieces import EXAMPLES
from privarms.artifacts.byhand._second import with_noise
from privarms.artifacts.results import Results


def _surely(expected):
    """A function's numbers, which have no error."""

    def known(policy, means, cell):
        pulls = expected(policy, means, cell)
        return pulls, np.zeros(len(pulls))

    return known


HANDS = {
    "without_chance": _surely(without_chance),
    "every_history": _surely(every_history),
    "first_epoch": _surely(first_epoch),
    "bonus_and_noise": with_noise,
    "with_noise": with_noise,
    "with_noise_in_blocks": with_noise,
}
OTHERS = ("successive_elimination", "uniform", "dp_se", "epoch_se")
COLUMNS = ("arm", "replicates", "pulls", "pulls_se", "spread", "expected", "expected_se")
SETTINGS = ("variant", "width", "ratio", "delta", "noise", "epsilon", "K", "horizon", "top", "bottom", "spacing")


def pulls(results: Results) -> pd.DataFrame:
    """The mean pulls of every arm beside those worked out; a row per cell and arm of the policies that are known here.

    pulls, pulls_se: of `replicates` runs; expected, expected_se: by hand; spread: the 95% quantile of the pulls less
    the 5% one, 0 where no run differs from another
    """
    parts = [_compared(results, study, HANDS[study]) for study in HANDS if study in results.studies]
    found = pd.concat(parts, ignore_index=True)
    return found.reindex(columns=[*found.columns[:2], *(c for c in SETTINGS if c in found), *COLUMNS])


def _compared(results: Results, study: str, hand) -> pd.DataFrame:
    cells = results.cells(study)
    cells = cells[cells["policy"].isin([*RULES, *OTHERS])]
    rows = []
    for _, arms in cells.groupby("cell", sort=False):
        cell = {k: v for k, v in arms.iloc[0].items() if pd.notna(v)}
        expected, errors = hand(cell["policy"], _means(cell), cell)
        settings = {k: cell[k] for k in SETTINGS if k in cell}
        rows.append(
            pd.DataFrame({"study": study, "policy": cell["policy"], **settings}, index=arms.index).assign(
                arm=arms["arm"],
                replicates=arms["replicates"],
                pulls=arms["pulls_mean"],
                pulls_se=arms["pulls_se"],
                spread=arms["pulls_p95"] - arms["pulls_p05"],
                expected=expected,
                expected_se=errors,
            )
        )
    return pd.concat(rows, ignore_index=True)


def _means(cell: dict) -> np.ndarray:
    K, top, bottom = int(cell["K"]), cell["top"], cell["bottom"]
    if cell.get("spacing", "linear") == "one_best":
        return np.array([top] + (K - 1) * [bottom])
    return np.array([top - arm * (top - bottom) / (K - 1) for arm in range(K)])


def examples(results: Results) -> pd.DataFrame:
    """Worked examples of the calculations; a row per number: module, function, by, found, expected, off.

    off: the difference over the expected number, or the difference itself where that is below a millionth
    """
    rows = []
    for module, of_module in EXAMPLES.items():
        for example in of_module():
            found, expected = (np.ravel(np.asarray(x, float)) for x in (example.found, example.expected))
            # Another number of numbers is none of them.
            found = found if len(found) == len(expected) else np.full(len(expected), np.nan)
            rows += [(module, example.function, example.by, *pair) for pair in zip(found, expected, strict=True)]
    found = pd.DataFrame(rows, columns=["module", "function", "by", "found", "expected"])
    size = found["expected"].abs()
    return found.assign(off=(found["found"] - found["expected"]).abs() / size.where(size >= 1e-6, 1.0))


INFERENCE = {"pulls": pulls, "examples": examples}
