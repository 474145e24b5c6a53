"""UCI Adult (Becker and Kohavi 1996): 1994 census records, labelled by income above 50,000 dollars.

Only complete rows count. The United States are the target and the other countries are auxiliary, which gives the sizes
in Table 1 of Ma et al. (2025). The paper does not state how its seven sources split the auxiliary rows. `sources`
offers four choices. It splits them by workclass or by marital-status, the two columns with seven levels. Or all
auxiliary rows are one source. Or each of seven sources has all of them, as Table 1 literally states (a person's budget
is then spent seven times). The paper does not name the original dimensions either: NUMBERS and LEVELS give its count of
46.
"""

from collections.abc import Mapping
from typing import BinaryIO

import numpy as np

from privarms.data import delimited
from privarms.data.features import Features, Table
from privarms.data.standin import logistic

OPTIONS = {"sources": ("workclass", "marital-status", "one", "copies")}
COPIES = 7
TARGET = "United-States"
LABELS = ("<=50K", ">50K")
# The columns in the order of the files, which have no header.
COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")

# The levels of each category that becomes one-hot, in the order of their columns.
LEVELS = {
    "workclass": (
        *("Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay"),
        "Never-worked",
    ),
    "marital-status": (
        *("Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent"),
        "Married-AF-spouse",
    ),
    "occupation": (
        *("Priv-house-serv", "Handlers-cleaners", "Farming-fishing", "Other-service", "Machine-op-inspct"),
        *("Transport-moving", "Armed-Forces", "Craft-repair", "Adm-clerical", "Protective-serv", "Sales"),
        *("Tech-support", "Exec-managerial", "Prof-specialty"),
    ),
    "relationship": ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
    "race": ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"),
    "sex": ("Female", "Male"),
}

# For the stand-in: the row counts of the real files, and the share of the second label.
STAND_IN_TARGET, STAND_IN_SOURCE, STAND_IN_INCOMPLETE = 41_292, 3_930, 3_620
STAND_IN_OF_DATA = 32_561
POSITIVE_SHARE = 0.248
STAND_IN_SEED = 1994


def read(files: Mapping[str, BinaryIO], options: Mapping[str, str]) -> Table:
    """Return the complete rows of adult.data and adult.test, in their order; the others are dropped and counted."""
    parts, accounts = [], {}
    for file, stream in files.items():
        # The first line of adult.test is a comment.
        if not stream.readline().startswith(b"|"):
            stream.seek(0)
        rows = delimited.read(file, stream, names=COLUMNS, missing=("?",))
        # adult.test has a dot after its labels.
        rows.frame["income"] = rows.frame["income"].str.rstrip(".")
        numbers = np.column_stack([rows.numbers(column, low=0.0) for column in NUMBERS])
        codes = np.column_stack([rows.codes(column, levels) for column, levels in LEVELS.items()])
        labels = rows.codes("income", LABELS)
        auxiliary = (rows.texts("native-country") != TARGET).to_numpy()
        accounts[file] = rows.account()
        parts.append([values[rows.kept] for values in (numbers, codes, labels, auxiliary)])
    numbers, codes, labels, auxiliary = (np.concatenate(part) for part in zip(*parts, strict=True))

    levels = []
    for j, names in enumerate(LEVELS.values()):
        used, codes[:, j] = np.unique(codes[:, j], return_inverse=True)
        levels.append([names[k] for k in used])
    features, labels = Features(numbers, list(NUMBERS), codes, list(LEVELS), levels), labels.astype(np.int64)
    if options["sources"] in LEVELS:
        j = list(LEVELS).index(options["sources"])
        used = np.unique(codes[auxiliary, j])
        sources = np.where(auxiliary, np.searchsorted(used, codes[:, j]) + 1, 0)
        source_names = [levels[j][k] for k in used]
    else:
        sources, source_names = auxiliary.astype(np.int64), ["outside the United States"]
    if options["sources"] == "copies":
        source_names = [f"{source_names[0]}, copy {m}" for m in range(1, COPIES + 1)]
        again = np.tile(np.flatnonzero(auxiliary), COPIES - 1)
        order = np.concatenate([np.arange(len(labels)), again])
        features, labels = features.take(order), labels[order]
        sources = np.concatenate([sources, np.repeat(np.arange(2, COPIES + 1), auxiliary.sum())])
    return Table(features, labels, list(LABELS), sources, source_names, accounts)


def generate() -> dict[str, list[str]]:
    """Return the synthetic stand-in: as many lines as the real files have, in their layout, always identical.

    The dependence is invented: the numbers share a latent variable, the levels of a category are equally frequent, and
    the label follows a logistic model.
    """
    rng = np.random.default_rng(STAND_IN_SEED)
    sizes = (STAND_IN_TARGET, STAND_IN_SOURCE, STAND_IN_INCOMPLETE)
    kind = rng.permutation(np.repeat([0, 1, 2], sizes))
    n = len(kind)
    latent = rng.standard_normal(n)

    def whole(mean: float, spread: float, least: int, most: int) -> np.ndarray:
        return np.clip(np.rint(mean + spread * (latent + rng.standard_normal(n))), least, most).astype(int)

    columns = {name: rng.choice(levels, n) for name, levels in LEVELS.items()}
    # As in the real files, a person who has never worked has no occupation and therefore no complete row.
    columns["workclass"] = np.where(kind == 2, "?", rng.choice(LEVELS["workclass"][:-1], n))
    columns |= {"age": whole(39, 9, 17, 90), "hours-per-week": whole(40, 8, 1, 99)}
    columns |= {"education": np.full(n, "HS-grad"), "education-num": whole(10, 2, 1, 16)}
    gain, loss = rng.random(n) < 0.08, rng.random(n) < 0.05
    columns |= {"capital-gain": gain * whole(8000, 3000, 1, 99_999), "capital-loss": loss * whole(1900, 300, 1, 4356)}
    columns["fnlwgt"] = rng.integers(12_285, 1_490_401, n)
    columns["native-country"] = np.where(kind == 1, "Mexico", TARGET)
    married = columns["marital-status"] == "Married-civ-spouse"
    score = 0.35 * columns["education-num"] + 0.03 * columns["age"] + 0.03 * columns["hours-per-week"] + 2.0 * married
    positive = rng.random(n) < logistic(score + 3.0 * gain, POSITIVE_SHARE)
    columns["income"] = np.array(LABELS)[positive.astype(int)]
    lines = [", ".join(map(str, row)) for row in zip(*(columns[name] for name in COLUMNS), strict=True)]
    first, rest = lines[:STAND_IN_OF_DATA], lines[STAND_IN_OF_DATA:]
    return {"adult.data": first, "adult.test": [f"{line}." for line in rest]}
