"""UCI Adult (Becker and Kohavi 1996): 1994 census records, labelled by income above 50,000 dollars.

Complete rows only; native-country United-States is the target and the other countries are auxiliary, which gives the
sizes in Table 1 of Ma et al. (2025). How their seven sources split the auxiliary rows is not stated in the paper:
`sources` splits by workclass or by marital-status, the two columns with seven levels; or takes all auxiliary rows as
one source, or as each of seven, which is Table 1 word for word (a person's budget is then spent seven times). Nor are
the original dimensions named: NUMBERS and the levels of CATEGORIES give their count of 46.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from privarms.data.features import Features, Table
from privarms.data.standin import by_rank, logistic, quantiles
from privarms.errors import PrivarmsError

OPTIONS = {"sources": ("workclass", "marital-status", "one", "copies")}
COPIES = 7
MISSING = "?"
TARGET = "United-States"
LABELS = ("<=50K", ">50K")
# adult.test writes a dot behind its labels.
LABEL_ENDINGS = {"adult.data": "", "adult.test": "."}
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
CATEGORIES = ("workclass", "marital-status", "occupation", "relationship", "race", "sex")

# How often each level occurs among the 45,222 complete rows of the real files; the stand-in has the same frequencies.
# The levels are those that adult.names allows; never-worked people have no occupation, so none of them is complete.
# WORKCLASS and OCCUPATION stand in the order of the stand-in's latent variables; the files have no order.
WORKCLASS = {
    "Never-worked": 0,
    "Without-pay": 21,
    "Private": 33307,
    "Local-gov": 3100,
    "State-gov": 1946,
    "Self-emp-not-inc": 3796,
    "Federal-gov": 1406,
    "Self-emp-inc": 1646,
}
# From the least to the most schooling; `education-num` is the place in this list, from 1.
EDUCATION = {
    "Preschool": 72,
    "1st-4th": 222,
    "5th-6th": 449,
    "7th-8th": 823,
    "9th": 676,
    "10th": 1223,
    "11th": 1619,
    "12th": 577,
    "HS-grad": 14783,
    "Some-college": 9899,
    "Assoc-voc": 1959,
    "Assoc-acdm": 1507,
    "Bachelors": 7570,
    "Masters": 2514,
    "Prof-school": 785,
    "Doctorate": 544,
}
OCCUPATION = {
    "Priv-house-serv": 232,
    "Handlers-cleaners": 2046,
    "Farming-fishing": 1480,
    "Other-service": 4808,
    "Machine-op-inspct": 2970,
    "Transport-moving": 2316,
    "Armed-Forces": 14,
    "Craft-repair": 6020,
    "Adm-clerical": 5540,
    "Protective-serv": 976,
    "Sales": 5408,
    "Tech-support": 1420,
    "Exec-managerial": 5984,
    "Prof-specialty": 6008,
}
RACE = {"White": 38903, "Black": 4228, "Asian-Pac-Islander": 1303, "Amer-Indian-Eskimo": 435, "Other": 353}
# (marital-status, relationship, sex), from the young to the old as the stand-in has it.
HOUSEHOLDS = {
    ("Never-married", "Own-child", "Female"): 2555,
    ("Never-married", "Own-child", "Male"): 3309,
    ("Never-married", "Other-relative", "Female"): 314,
    ("Never-married", "Other-relative", "Male"): 506,
    ("Never-married", "Not-in-family", "Female"): 2850,
    ("Never-married", "Not-in-family", "Male"): 3841,
    ("Never-married", "Unmarried", "Female"): 794,
    ("Never-married", "Unmarried", "Male"): 429,
    ("Married-AF-spouse", "Other-relative", "Female"): 1,
    ("Married-AF-spouse", "Own-child", "Female"): 1,
    ("Married-AF-spouse", "Wife", "Female"): 19,
    ("Married-AF-spouse", "Husband", "Male"): 11,
    ("Married-civ-spouse", "Own-child", "Female"): 57,
    ("Married-civ-spouse", "Own-child", "Male"): 68,
    ("Married-civ-spouse", "Wife", "Female"): 2071,
    ("Married-civ-spouse", "Husband", "Male"): 18654,
    ("Married-civ-spouse", "Husband", "Female"): 1,
    ("Married-civ-spouse", "Wife", "Male"): 1,
    ("Married-civ-spouse", "Other-relative", "Female"): 80,
    ("Married-civ-spouse", "Other-relative", "Male"): 104,
    ("Married-civ-spouse", "Not-in-family", "Female"): 4,
    ("Married-civ-spouse", "Not-in-family", "Male"): 15,
    ("Married-spouse-absent", "Own-child", "Female"): 37,
    ("Married-spouse-absent", "Own-child", "Male"): 20,
    ("Married-spouse-absent", "Other-relative", "Female"): 16,
    ("Married-spouse-absent", "Other-relative", "Male"): 28,
    ("Married-spouse-absent", "Not-in-family", "Female"): 101,
    ("Married-spouse-absent", "Not-in-family", "Male"): 181,
    ("Married-spouse-absent", "Unmarried", "Female"): 120,
    ("Married-spouse-absent", "Unmarried", "Male"): 49,
    ("Separated", "Own-child", "Female"): 67,
    ("Separated", "Own-child", "Male"): 63,
    ("Separated", "Other-relative", "Female"): 47,
    ("Separated", "Other-relative", "Male"): 28,
    ("Separated", "Not-in-family", "Female"): 223,
    ("Separated", "Not-in-family", "Male"): 365,
    ("Separated", "Unmarried", "Female"): 515,
    ("Separated", "Unmarried", "Male"): 103,
    ("Divorced", "Own-child", "Female"): 198,
    ("Divorced", "Own-child", "Male"): 231,
    ("Divorced", "Other-relative", "Female"): 104,
    ("Divorced", "Other-relative", "Male"): 62,
    ("Divorced", "Not-in-family", "Female"): 1688,
    ("Divorced", "Not-in-family", "Male"): 1747,
    ("Divorced", "Unmarried", "Female"): 1795,
    ("Divorced", "Unmarried", "Male"): 472,
    ("Widowed", "Own-child", "Female"): 14,
    ("Widowed", "Own-child", "Male"): 6,
    ("Widowed", "Other-relative", "Female"): 48,
    ("Widowed", "Other-relative", "Male"): 11,
    ("Widowed", "Not-in-family", "Female"): 546,
    ("Widowed", "Not-in-family", "Male"): 141,
    ("Widowed", "Unmarried", "Female"): 429,
    ("Widowed", "Unmarried", "Male"): 82,
}
NATIVE_COUNTRY = {
    "United-States": 41292,
    "Cambodia": 26,
    "England": 119,
    "Puerto-Rico": 175,
    "Canada": 163,
    "Germany": 193,
    "Outlying-US(Guam-USVI-etc)": 22,
    "India": 147,
    "Japan": 89,
    "Greece": 49,
    "South": 101,
    "China": 113,
    "Cuba": 133,
    "Iran": 56,
    "Honduras": 19,
    "Philippines": 283,
    "Italy": 100,
    "Poland": 81,
    "Jamaica": 103,
    "Vietnam": 83,
    "Mexico": 903,
    "Portugal": 62,
    "Ireland": 36,
    "France": 36,
    "Dominican-Republic": 97,
    "Laos": 21,
    "Ecuador": 43,
    "Taiwan": 55,
    "Haiti": 69,
    "Columbia": 82,
    "Hungary": 18,
    "Guatemala": 86,
    "Nicaragua": 48,
    "Scotland": 20,
    "Thailand": 29,
    "Yugoslavia": 23,
    "El-Salvador": 147,
    "Trinadad&Tobago": 26,
    "Peru": 45,
    "Hong": 28,
    "Holand-Netherlands": 1,
}
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

# The columns in the order of the file: None for whole numbers, the known levels for categories.
COLUMNS: dict[str, tuple[str, ...] | None] = {
    "age": None,
    "workclass": (
        "Private",
        "Self-emp-not-inc",
        "Self-emp-inc",
        "Federal-gov",
        "Local-gov",
        "State-gov",
        "Without-pay",
        "Never-worked",
    ),
    "fnlwgt": None,
    "education": tuple(EDUCATION),
    "education-num": None,
    "marital-status": (
        "Married-civ-spouse",
        "Divorced",
        "Never-married",
        "Separated",
        "Widowed",
        "Married-spouse-absent",
        "Married-AF-spouse",
    ),
    "occupation": tuple(OCCUPATION),
    "relationship": ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
    "race": tuple(RACE),
    "sex": ("Female", "Male"),
    "capital-gain": None,
    "capital-loss": None,
    "hours-per-week": None,
    "native-country": tuple(NATIVE_COUNTRY),
}


def read(lines: Mapping[str, Iterable[str]], options: Mapping[str, str]) -> Table:
    """The complete rows of adult.data and adult.test, in their order.

    Raises PrivarmsError naming file, line and column of the first row with another number of fields, a number that
    is not one, an unknown category or an unknown label. Rows with a missing value are dropped and counted.
    """
    rows: list[list[str]] = []
    files = {}
    for file, content in lines.items():
        complete, files[file] = _parse(file, content)
        rows.extend(complete)
    columns = dict(zip([*COLUMNS, "income"], zip(*rows, strict=True), strict=True)) if rows else {}
    if not rows:
        raise PrivarmsError(f"{', '.join(lines)}: no complete row; expected some")

    numbers = np.array([columns[column] for column in NUMBERS], np.float64).T
    levels, codes = [], []
    for column in CATEGORIES:
        found = set(columns[column])
        levels.append([level for level in COLUMNS[column] if level in found])
        codes.append([levels[-1].index(value) for value in columns[column]])
    features = Features(numbers, list(NUMBERS), np.array(codes, np.int16).T, list(CATEGORIES), levels)

    auxiliary = np.array(columns["native-country"]) != TARGET
    labels = np.array([LABELS.index(label) for label in columns["income"]], np.int64)
    if options["sources"] in COLUMNS:
        sources, source_names = _split(auxiliary, np.array(columns[options["sources"]]), COLUMNS[options["sources"]])
    else:
        sources, source_names = auxiliary.astype(np.int64), ["outside the United States"]
    if options["sources"] == "copies":
        source_names = [f"{source_names[0]}, copy {m}" for m in range(1, COPIES + 1)]
        again = np.tile(np.flatnonzero(auxiliary), COPIES - 1)
        order = np.concatenate([np.arange(len(rows)), again])
        features, labels = features.take(order), labels[order]
        sources = np.concatenate([sources, np.repeat(np.arange(2, COPIES + 1), auxiliary.sum())])

    counted = list(files.values())
    report = {
        "files": files,
        "rows": sum(f["rows"] for f in counted),
        "dropped": sum(f["dropped"] for f in counted),
        "complete": len(rows),
    }
    return Table(features, labels, list(LABELS), sources, source_names, report)


def _split(auxiliary: np.ndarray, values: np.ndarray, levels: Iterable[str]) -> tuple[np.ndarray, list[str]]:
    """Sources int64[n] of the rows, 0 for those that are not auxiliary, and their names: the levels that occur."""
    sources = np.zeros(len(auxiliary), np.int64)
    names: list[str] = []
    for level in levels:
        found = auxiliary & (values == level)
        if found.any():
            names.append(level)
            sources[found] = len(names)
    return sources, names


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
    household = by_rank(latent(age=0.7), HOUSEHOLDS)
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


def _positive(latent: np.ndarray, table: tuple[int, ...], count: int) -> np.ndarray:
    """Zero but for the `count` largest, which have these quantiles."""
    values = np.zeros(len(latent), int)
    largest = np.argsort(latent, kind="stable")[-count:]
    values[largest] = quantiles(latent[largest], table)
    return values


def _files(complete: list[list[str]], rng: np.random.Generator) -> dict[str, list[str]]:
    """Spread complete rows over the files, add incomplete ones, shuffle, and write as the real files are written."""
    order = iter(rng.permutation(len(complete)))
    names = list(COLUMNS)
    files = {}
    for file, patterns in ROWS.items():
        rows = []
        for missing, count in patterns.items():
            for _ in range(count):
                # An incomplete row is a complete one, drawn again, with cells taken out.
                row = list(complete[rng.integers(len(complete)) if missing else next(order)])
                for column in missing:
                    row[names.index(column)] = MISSING
                if missing == ("occupation",):
                    row[names.index("workclass")] = "Never-worked"
                rows.append(", ".join(row) + LABEL_ENDINGS[file])
        files[file] = [rows[i] for i in rng.permutation(len(rows))]
    return files


def _parse(file: str, lines: Iterable[str]) -> tuple[list[list[str]], dict]:
    """The fields of the complete rows of one file (labels without the dot), and what was dropped from it."""
    ending = LABEL_ENDINGS[file]
    labels = {label + ending: label for label in LABELS}
    columns = [(name, None if levels is None else frozenset(levels)) for name, levels in COLUMNS.items()]
    missing = dict.fromkeys(COLUMNS, 0)
    complete: list[list[str]] = []
    rows = comments = empty = 0
    for number, line in enumerate(lines, 1):
        line = line.strip()
        # adult.test opens with a comment of C4.5's kind, and both files close with an empty line.
        if number == 1 and line.startswith("|"):
            comments += 1
            continue
        if not line:
            empty = empty or number
            continue
        if empty:
            raise PrivarmsError(f"{file}, line {empty}: expected {len(COLUMNS) + 1} fields, found an empty line")
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(COLUMNS) + 1:
            raise PrivarmsError(f"{file}, line {number}: expected {len(COLUMNS) + 1} fields, found {len(fields)}")
        rows += 1
        whole_row = True
        for (name, levels), field in zip(columns, fields[:-1], strict=True):
            if field == MISSING:
                missing[name] += 1
                whole_row = False
            elif levels is None:
                if not (field.isascii() and field.isdigit()):
                    raise PrivarmsError(f"{file}, line {number}, {name}: expected a whole number, found {field!r}")
            elif field not in levels:
                raise PrivarmsError(
                    f"{file}, line {number}, {name}: unknown category {field!r}; "
                    f"expected one of {', '.join(COLUMNS[name])} or {MISSING}"
                )
        if fields[-1] not in labels:
            raise PrivarmsError(
                f"{file}, line {number}, income: unknown label {fields[-1]!r}; expected {' or '.join(labels)}"
            )
        if whole_row:
            complete.append([*fields[:-1], labels[fields[-1]]])
    return complete, {
        "rows": rows,
        "comments": comments,
        "dropped": rows - len(complete),
        "dropped_because": "a missing value",
        "missing": {name: count for name, count in missing.items() if count},
    }
