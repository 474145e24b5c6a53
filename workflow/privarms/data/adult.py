"""UCI Adult (Becker and Kohavi 1996): 1994 census records, labelled by income above 50,000 dollars.

Complete rows only; native-country United-States is the target and the other countries are auxiliary, which gives the
sizes in Table 1 of Ma et al. (2025). How their seven sources split the auxiliary rows is not stated in the paper:
`sources` splits by workclass or by marital-status, the two columns with seven levels; or takes all auxiliary rows as
one source, or as each of seven, which is Table 1 word for word (a person's budget is then spent seven times). Nor are
the original dimensions named: NUMBERS and LEVELS give their count of 46.
"""

from collections.abc import Mapping
from typing import BinaryIO

import numpy as np

from privarms.data import delimited
from privarms.data.features import Features, Table
from privarms.data.standin import by_rank, counts, logistic, quantiles

OPTIONS = {"sources": ("workclass", "marital-status", "one", "copies")}
COPIES = 7
TARGET = "United-States"
LABELS = ("<=50K", ">50K")
# adult.test writes a dot behind its labels.
LABEL_ENDINGS = {"adult.data": "", "adult.test": "."}
# The columns in the order of the files, which have no header.
COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")

# How often each level occurs among the 45,222 complete rows of the real files; the stand-in has the same frequencies.
# The levels are those that adult.names allows; never-worked people have no occupation, so none of them is complete.
# WORKCLASS and OCCUPATION stand in the order of the stand-in's latent variables; the files have no order.
WORKCLASS = counts(
    """
    Never-worked 0, Without-pay 21, Private 33307, Local-gov 3100, State-gov 1946, Self-emp-not-inc 3796,
    Federal-gov 1406, Self-emp-inc 1646
    """
)
# From the least to the most schooling; `education-num` is the place in this list, from 1.
EDUCATION = counts(
    """
    Preschool 72, 1st-4th 222, 5th-6th 449, 7th-8th 823, 9th 676, 10th 1223, 11th 1619, 12th 577, HS-grad 14783,
    Some-college 9899, Assoc-voc 1959, Assoc-acdm 1507, Bachelors 7570, Masters 2514, Prof-school 785, Doctorate 544
    """
)
OCCUPATION = counts(
    """
    Priv-house-serv 232, Handlers-cleaners 2046, Farming-fishing 1480, Other-service 4808, Machine-op-inspct 2970,
    Transport-moving 2316, Armed-Forces 14, Craft-repair 6020, Adm-clerical 5540, Protective-serv 976, Sales 5408,
    Tech-support 1420, Exec-managerial 5984, Prof-specialty 6008
    """
)
RACE = counts("White 38903, Black 4228, Asian-Pac-Islander 1303, Amer-Indian-Eskimo 435, Other 353")
# marital-status: relationship, women, men; from the young to the old as the stand-in has it.
HOUSEHOLDS = {
    "Never-married": "Own-child 2555 3309, Other-relative 314 506, Not-in-family 2850 3841, Unmarried 794 429",
    "Married-AF-spouse": "Other-relative 1 0, Own-child 1 0, Wife 19 0, Husband 0 11",
    "Married-civ-spouse": (
        "Own-child 57 68, Wife 2071 0, Husband 0 18654, Husband 1 0, Wife 0 1, Other-relative 80 104, "
        "Not-in-family 4 15"
    ),
    "Married-spouse-absent": "Own-child 37 20, Other-relative 16 28, Not-in-family 101 181, Unmarried 120 49",
    "Separated": "Own-child 67 63, Other-relative 47 28, Not-in-family 223 365, Unmarried 515 103",
    "Divorced": "Own-child 198 231, Other-relative 104 62, Not-in-family 1688 1747, Unmarried 1795 472",
    "Widowed": "Own-child 14 6, Other-relative 48 11, Not-in-family 546 141, Unmarried 429 82",
}
NATIVE_COUNTRY = counts(
    """
    United-States 41292, Cambodia 26, England 119, Puerto-Rico 175, Canada 163, Germany 193,
    Outlying-US(Guam-USVI-etc) 22, India 147, Japan 89, Greece 49, South 101, China 113, Cuba 133, Iran 56,
    Honduras 19, Philippines 283, Italy 100, Poland 81, Jamaica 103, Vietnam 83, Mexico 903, Portugal 62, Ireland 36,
    France 36, Dominican-Republic 97, Laos 21, Ecuador 43, Taiwan 55, Haiti 69, Columbia 82, Hungary 18, Guatemala 86,
    Nicaragua 48, Scotland 20, Thailand 29, Yugoslavia 23, El-Salvador 147, Trinadad&Tobago 26, Peru 45, Hong 28,
    Holand-Netherlands 1
    """
)
LABEL_COUNTS = {"<=50K": 34014, ">50K": 11208}

# Quantiles among the same rows, evenly spaced from the smallest to the largest value; of the gains and losses those
# of the positive ones, which so many rows have.
AGE = (17, 20, 22, 24, 26, 28, 30, 32, 34, 35, 37, 39, 41, 43, 45, 47, 50, 53, 57, 62, 90)
HOURS = (1, 20, 25, 32, 36, 40, 40, 40, 40, 40, 40, 40, 40, 40, 42, 45, 50, 50, 55, 60, 99)
GAIN = (114, 2354, 3103, 4064, 5013, 7298, 7688, 8614, 15024, 15024, 99999)
LOSS = (155, 1561, 1628, 1740, 1887, 1887, 1902, 1977, 2001, 2259, 4356)
POSITIVE_GAINS = 3790
POSITIVE_LOSSES = 2140

# How many rows of each file are complete, and which cells are missing in how many of the others.
ROWS = {
    "adult.data": {
        (): 30162,
        ("workclass", "occupation"): 1809,
        ("native-country",): 556,
        ("workclass", "occupation", "native-country"): 27,
        ("occupation",): 7,
    },
    "adult.test": {
        (): 15060,
        ("workclass", "occupation"): 944,
        ("native-country",): 255,
        ("workclass", "occupation", "native-country"): 19,
        ("occupation",): 3,
    },
}
# With this one every level of both splits into sources occurs among the auxiliary rows, as in the real files.
STAND_IN_SEED = 1994

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
    "occupation": tuple(OCCUPATION),
    "relationship": ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
    "race": tuple(RACE),
    "sex": ("Female", "Male"),
}


def read(files: Mapping[str, BinaryIO], options: Mapping[str, str]) -> Table:
    """Return the complete rows of adult.data and adult.test, in their order; the others are dropped and counted."""
    parts, accounts = [], {}
    for file, stream in files.items():
        # adult.test opens with a comment of C4.5's kind.
        if not stream.readline().startswith(b"|"):
            stream.seek(0)
        rows = delimited.read(file, stream, names=COLUMNS)
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
    """The synthetic stand-in: lines in the layout of the real files, the same at every call.

    Row counts, category frequencies and missing cells are those of the real files, quantiles of the numbers nearly
    so. The dependence is made up: columns share latent normal variables (age, schooling), and the label follows a
    logistic model of schooling, age, marriage, hours and capital, with as many positives as in the real files on
    average. Nothing that is computed from it says anything about Adult.
    """
    rng = np.random.default_rng(STAND_IN_SEED)
    n = sum(patterns[()] for patterns in ROWS.values())

    def latent(age: float = 0.0, schooling: float = 0.0) -> np.ndarray:
        rest = np.sqrt(1 - age**2 - schooling**2)
        return age * shared_age + schooling * shared_schooling + rest * rng.standard_normal(n)

    shared_age, shared_schooling = rng.standard_normal((2, n))
    household = by_rank(latent(age=0.7), households())
    education = by_rank(shared_schooling, EDUCATION)
    schooling = np.array([list(EDUCATION).index(level) + 1 for level in education])
    gain = _positive(latent(age=0.2, schooling=0.3), GAIN, POSITIVE_GAINS)
    # Nobody has both a gain and a loss.
    loss = _positive(np.where(gain > 0, -np.inf, latent(age=0.2, schooling=0.3)), LOSS, POSITIVE_LOSSES)
    columns = {
        "age": quantiles(shared_age, AGE),
        "workclass": by_rank(latent(age=0.2, schooling=0.2), WORKCLASS),
        "fnlwgt": np.rint(np.exp(12 + 0.6 * rng.standard_normal(n))).astype(np.int64),
        "education": education,
        "education-num": schooling,
        "marital-status": [h[0] for h in household],
        "occupation": by_rank(latent(age=0.1, schooling=0.7), OCCUPATION),
        "relationship": [h[1] for h in household],
        "race": by_rank(latent(schooling=-0.1), RACE),
        "sex": [h[2] for h in household],
        "capital-gain": gain,
        "capital-loss": loss,
        "hours-per-week": quantiles(latent(age=0.2, schooling=0.2), HOURS),
        "native-country": by_rank(latent(schooling=-0.2), NATIVE_COUNTRY),
    }
    married = np.char.startswith(np.array(columns["marital-status"]), "Married-civ")
    score = (
        0.35 * (schooling - 10)
        + 0.03 * (columns["age"] - 40)
        - 0.002 * (columns["age"] - 40) ** 2
        + 2.0 * married
        + 0.03 * (columns["hours-per-week"] - 40)
        + 3.0 * (gain > 5000)
        + 1.0 * (loss > 1800)
    )
    positive = rng.random(n) < logistic(score, LABEL_COUNTS[LABELS[1]] / n)
    complete = [list(map(str, row)) for row in zip(*columns.values(), (LABELS[p] for p in positive * 1), strict=True)]
    return _files(complete, rng)


def households() -> dict[tuple[str, str, str], int]:
    """Return (marital-status, relationship, sex) -> how often they occur together."""
    counts = {}
    for status, text in HOUSEHOLDS.items():
        for relationship, *of_sexes in map(str.split, text.split(",")):
            of_each = zip(LEVELS["sex"], map(int, of_sexes), strict=True)
            counts |= {(status, relationship, sex): count for sex, count in of_each if count}
    return counts


def _positive(latent: np.ndarray, table: tuple[int, ...], count: int) -> np.ndarray:
    """Zero but for the `count` largest, which have these quantiles."""
    values = np.zeros(len(latent), int)
    largest = np.argsort(latent, kind="stable")[-count:]
    values[largest] = quantiles(latent[largest], table)
    return values


def _files(complete: list[list[str]], rng: np.random.Generator) -> dict[str, list[str]]:
    """Spread complete rows over the files, add incomplete ones, shuffle, and write as the real files are written."""
    order = iter(rng.permutation(len(complete)))
    files = {}
    for file, patterns in ROWS.items():
        rows = []
        for missing, count in patterns.items():
            for _ in range(count):
                # An incomplete row is a complete one, drawn again, with cells taken out.
                row = list(complete[rng.integers(len(complete)) if missing else next(order)])
                for column in missing:
                    row[COLUMNS.index(column)] = "?"
                if missing == ("occupation",):
                    row[COLUMNS.index("workclass")] = "Never-worked"
                rows.append(", ".join(row) + LABEL_ENDINGS[file])
        files[file] = [rows[i] for i in rng.permutation(len(rows))]
    return files
