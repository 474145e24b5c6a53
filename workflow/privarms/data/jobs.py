"""70k+ job applicants (Tankha, Kaggle; made from a 2022 survey of developers), labelled by employment.

The eleven dimensions of Table 1 of Ma et al. (2025) are NUMBERS, one number per column. The paper does not state how
levels become numbers, nor how Country splits the rows. Here the United States are the auxiliary source and all other
countries the target. The table has 1,371 rows fewer than the file; the paper does not state which. Here the rows with
the level NonBinary are left out, because one dimension from Man to Woman has no value for it.

A selection that was published without the column MentalHealth has the option `mental_health: without`.
"""

from collections.abc import Mapping
from typing import BinaryIO

import numpy as np

from privarms.data import delimited
from privarms.data.features import Table, of_numbers
from privarms.data.standin import by_rank, logistic, quantiles

OPTIONS = {"mental_health": ("with", "without")}
MENTAL_HEALTH = "MentalHealth"
SOURCE_COUNTRY = "United States of America"
LABELS = ("not employed", "employed")
GENDERS = {"Man": 0, "NonBinary": 0.5, "Woman": 1}
# Column -> the number of each level; None for a column of numbers.
NUMBERS: dict[str, dict[str, float] | None] = {
    "Age": {"<35": 0, ">35": 1},
    "Accessibility": {"No": 0, "Yes": 1},
    "EdLevel": {"NoHigherEd": 0, "Other": 1, "Undergraduate": 2, "Master": 3, "PhD": 4},
    "Employment": {"0": 0, "1": 1},
    "Gender": GENDERS,
    MENTAL_HEALTH: {"No": 0, "Yes": 1},
    "MainBranch": {"NotDev": 0, "Dev": 1},
    "YearsCode": None,
    "YearsCodePro": None,
    "PreviousSalary": None,
    "ComputerSkills": None,
}
LEFT_OUT_GENDER = "NonBinary"
COUNTRY, LABEL = "Country", "Employed"
# The first column is an index without a name; ComputerSkills is the length of the list HaveWorkedWith.
HEADER = (
    *("", "Age", "Accessibility", "EdLevel", "Employment", "Gender", "MentalHealth", "MainBranch", "YearsCode"),
    *("YearsCodePro", COUNTRY, "PreviousSalary", "HaveWorkedWith", "ComputerSkills", LABEL),
)

# For the stand-in: the file's row count, the sizes of Table 1, and round numbers near the file's description (mean
# salary 68,000, mean of 14 years and of 13 skills, half employed, 95% men, 65% below 35). The file was not available.
STAND_IN_TARGET, STAND_IN_SOURCE, STAND_IN_LEFT_OUT = 57_773, 14_318, 1_371
SHARES = {
    "Age": {"<35": 0.65, ">35": 0.35},
    "Accessibility": {"No": 0.97, "Yes": 0.03},
    "EdLevel": {"NoHigherEd": 0.13, "Other": 0.1, "Undergraduate": 0.5, "Master": 0.24, "PhD": 0.03},
    "Employment": {"0": 0.12, "1": 0.88},
    "Gender": {"Man": 0.95, "Woman": 0.05},
    "MentalHealth": {"No": 0.77, "Yes": 0.23},
    "MainBranch": {"NotDev": 0.08, "Dev": 0.92},
}
# Weights of the latent variables in the columns of the stand-in.
DEPENDS = {"Age": {"years": 0.7}, "EdLevel": {"skill": 0.2}, "Employment": {"skill": 0.2}, "MainBranch": {"skill": 0.2}}
YEARS = (0, 4, 6, 8, 9, 11, 13, 16, 21, 30, 50)
SALARY = (1, 12_000, 23_000, 33_000, 44_000, 58_000, 70_000, 84_000, 102_000, 135_000, 220_000)
SKILLS = (0, 4, 7, 9, 11, 13, 15, 17, 19, 23, 107)
EMPLOYED_SHARE = 0.54
OTHER_COUNTRIES = ("Germany", "India", "United Kingdom of Great Britain and Northern Ireland", "Canada", "Brazil")
STAND_IN_SEED = 2022


def read(files: Mapping[str, BinaryIO], options: Mapping[str, str]) -> Table:
    """Return the complete rows of stackoverflow_full.csv, or of its Parquet parts; others are dropped and counted."""
    without = options["mental_health"] == "without"
    features = {name: levels for name, levels in NUMBERS.items() if not (without and name == MENTAL_HEALTH)}
    parts, accounts = [], {}
    for file, stream in files.items():
        rows = delimited.read(file, stream, [*features, COUNTRY, LABEL], missing=delimited.WORDS)
        for column in ("Employment", LABEL):
            # Tools that read these columns as numbers write 1.0.
            rows.frame[column] = rows.frame[column].str.removesuffix(".0")
        numbers = {}
        for column, levels in features.items():
            if levels is None:
                numbers[column] = rows.numbers(column, low=0.0)
            else:
                numbers[column] = np.array(list(levels.values()), float)[rows.codes(column, list(levels))]
        labels = rows.codes(LABEL, ("0", "1")).astype(np.int64)
        sources = (rows.texts(COUNTRY) == SOURCE_COUNTRY).to_numpy(np.int64)
        rows.drop(numbers["Gender"] == GENDERS[LEFT_OUT_GENDER], f"Gender: {LEFT_OUT_GENDER}")
        accounts[file] = rows.account()
        parts.append([values[rows.kept] for values in (np.column_stack(list(numbers.values())), labels, sources)])
    numbers, labels, sources = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Table(of_numbers(numbers, list(features)), labels, list(LABELS), sources, [SOURCE_COUNTRY], accounts)


def generate() -> dict[str, list[str]]:
    """Return the synthetic stand-in: lines in the layout of the real file, with its number of rows, always identical.

    Frequencies are rough and the dependence is invented: years and age share a latent variable, as do skills and
    salary, and employment depends on skills, salary and gender.
    """
    rng = np.random.default_rng(STAND_IN_SEED)
    n = STAND_IN_TARGET + STAND_IN_SOURCE + STAND_IN_LEFT_OUT
    shared_years, shared_skill = rng.standard_normal((2, n))

    def latent(years: float = 0.0, skill: float = 0.0) -> np.ndarray:
        rest = np.sqrt(1 - years**2 - skill**2)
        return years * shared_years + skill * shared_skill + rest * rng.standard_normal(n)

    kind = rng.permutation(np.repeat([0, 1, 2], [STAND_IN_TARGET, STAND_IN_SOURCE, STAND_IN_LEFT_OUT]))
    columns = {name: by_rank(latent(**DEPENDS.get(name, {})), _counts(shares, n)) for name, shares in SHARES.items()}
    columns["Gender"] = np.where(kind == 2, LEFT_OUT_GENDER, columns["Gender"])
    years = quantiles(latent(years=0.9), YEARS)
    professional = np.rint(years * (0.3 + 0.6 * rng.random(n))).astype(int)
    salary = quantiles(latent(years=0.4, skill=0.3) + 0.5 * (kind == 1), SALARY)
    skills = quantiles(latent(skill=0.9), SKILLS)
    woman = columns["Gender"] == "Woman"
    score = 0.35 * (skills - 13) + 0.000004 * (salary - 68_000) - 0.4 * woman
    employed = rng.random(n) < logistic(score, EMPLOYED_SHARE)
    elsewhere = rng.integers(0, len(OTHER_COUNTRIES), n)
    abroad = (kind == 0) | ((kind == 2) & (rng.random(n) < 0.8))
    columns |= {
        "": range(n),
        "YearsCode": years,
        "YearsCodePro": professional,
        COUNTRY: [OTHER_COUNTRIES[i] if other else SOURCE_COUNTRY for i, other in zip(elsewhere, abroad, strict=True)],
        "PreviousSalary": [f"{value}.0" for value in salary],
        "HaveWorkedWith": [";".join(["skill"] * count) for count in skills],
        "ComputerSkills": skills,
        LABEL: employed.astype(int),
    }
    rows = zip(*(columns[name] for name in HEADER), strict=True)
    return {"stackoverflow_full.csv": [",".join(HEADER), *(",".join(map(str, row)) for row in rows)]}


def _counts(shares: Mapping[str, float], n: int) -> dict[str, int]:
    """Return whole counts that sum to n; the last level takes the rounding error."""
    counts = {level: int(share * n) for level, share in shares.items()}
    last = list(counts)[-1]
    return counts | {last: counts[last] + n - sum(counts.values())}
