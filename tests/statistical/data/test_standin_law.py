"""The generated stand-ins: the real frequencies where they are known, and a label that depends on the rest."""

import collections
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from privarms.data import adult, jobs, taxi

pytestmark = pytest.mark.statistical

# For each test function, shared among its checks.
ALARM = 1e-5


@pytest.fixture(scope="module")
def columns():
    """The complete rows of the stand-in, column by column."""
    rows = [
        line.rstrip(adult.LABEL_ENDINGS[file]).split(", ") for file, lines in adult.generate().items() for line in lines
    ]
    complete = [row for row in rows if "?" not in row]
    return dict(zip(adult.COLUMNS, map(np.array, zip(*complete, strict=True)), strict=True))


def frequencies_agree(values, counts, alarm):
    """Whether levels occur as often as `counts` says, by the chi-square test (levels below 5 pooled)."""
    found = collections.Counter(map(tuple, values) if isinstance(next(iter(counts)), tuple) else values)
    if set(found) - {level for level, count in counts.items() if count}:
        return False
    common = [level for level, count in counts.items() if count >= 5]
    rare = sum(counts.values()) - sum(counts[level] for level in common)
    expected = np.array([*(counts[level] for level in common), *([rare] if rare else [])], float)
    observed = np.array([found[level] for level in common], float)
    observed = np.append(observed, len(values) - observed.sum()) if rare else observed
    expected *= len(values) / expected.sum()
    statistic = ((observed - expected) ** 2 / expected).sum()
    return bool(stats.chi2.sf(statistic, len(expected) - 1) > alarm)


def test_categories_have_the_real_frequencies(columns):
    tables = {
        "workclass": adult.WORKCLASS,
        "education": adult.EDUCATION,
        "occupation": adult.OCCUPATION,
        "race": adult.RACE,
        "native-country": adult.NATIVE_COUNTRY,
        "income": adult.LABEL_COUNTS,
    }
    for column, table in tables.items():
        assert frequencies_agree(columns[column], table, ALARM / 7)
    households = list(zip(*(columns[c].tolist() for c in ("marital-status", "relationship", "sex")), strict=True))
    assert frequencies_agree(households, adult.households(), ALARM / 7)
    # Other frequencies are refused.
    values = columns["race"].copy()
    values[np.flatnonzero(values == "White")[:400]] = "Black"
    assert not frequencies_agree(values, adult.RACE, ALARM)


def test_numbers_have_the_real_quantiles(columns):
    # Of n independent draws the share at or below a quantile is off by at most so much (Dvoretzky-Kiefer-Wolfowitz).
    tables = {"age": adult.AGE, "hours-per-week": adult.HOURS, "capital-gain": adult.GAIN, "capital-loss": adult.LOSS}
    for column, table in tables.items():
        values = columns[column].astype(int)
        if column.startswith("capital"):
            values = values[values > 0]
        assert quantiles_agree(values, table, ALARM / 4)
        assert not quantiles_agree(values * 1.15, table, ALARM / 4)
    assert (columns["capital-gain"] != "0").sum() == adult.POSITIVE_GAINS
    assert (columns["capital-loss"] != "0").sum() == adult.POSITIVE_LOSSES
    assert not ((columns["capital-gain"] != "0") & (columns["capital-loss"] != "0")).any()


def quantiles_agree(values, table, alarm):
    """Whether evenly spaced quantiles lie where the table says; with ties, on the steps' right sides."""
    off = math.sqrt(math.log(2 / alarm) / (2 * len(values)))
    grid = np.linspace(0, 1, len(table))
    at_or_below = np.array([(values <= q).mean() for q in table])
    below = np.array([(values < q).mean() for q in table])
    return bool((at_or_below >= grid - off).all() and (below <= grid + off).all())


def depends(label, on, alarm):
    """Whether the label is more frequent where `on` holds, by Fisher's exact test."""
    table = [[np.sum(label & on), np.sum(~label & on)], [np.sum(label & ~on), np.sum(~label & ~on)]]
    return bool(stats.fisher_exact(table, alternative="greater").pvalue < alarm)


def depends_on_each(label, conditions):
    """Whether the label is more frequent under each condition, and by the same test under none once it is shuffled."""
    shuffled = np.random.default_rng(2).permutation(label)
    alarm = ALARM / len(conditions)
    return all(depends(label, on, 1e-9) and not depends(shuffled, on, alarm) for on in conditions)


def test_the_label_depends_on_what_it_should(columns):
    age = columns["age"].astype(int)
    conditions = (
        columns["education-num"].astype(int) >= 13,
        columns["marital-status"] == "Married-civ-spouse",
        columns["hours-per-week"].astype(int) > 40,
        columns["capital-gain"].astype(int) > 5000,
        (age > 35) & (age < 60),
        np.isin(columns["occupation"], ["Exec-managerial", "Prof-specialty"]),
    )
    assert depends_on_each(columns["income"] == ">50K", conditions)


def table_of(lines):
    """The columns of a stand-in with a header, as texts."""
    header, *rows = (line.split(",") for line in lines)
    return dict(zip(header, map(np.array, zip(*rows, strict=True)), strict=True))


@pytest.fixture(scope="module")
def trips():
    """Some of Taxi's rows: all are drawn alike but for their day. One company has a comma in its name."""
    lines = itertools.islice(taxi.generate()["taxi_trips.csv"], 60_001)
    return table_of(line.replace("Agency, ", "Agency ") for line in lines)


def test_trips_start_where_and_when_the_real_ones_do(trips):
    areas = dict(zip([*taxi.AREAS[: taxi.OUTSIDE], ""], taxi.AREA_COUNTS, strict=True))
    hours = {f"{hour:02d}": count for hour, count in enumerate(taxi.HOUR_COUNTS)}
    found = [time[11:13] for time in trips["trip_start_timestamp"]]
    assert frequencies_agree(trips["pickup_community_area"], areas, ALARM / 3)
    assert frequencies_agree(found, hours, ALARM / 3)
    # An hour later is another law.
    later = dict(zip(hours, [*taxi.HOUR_COUNTS[1:], taxi.HOUR_COUNTS[0]], strict=True))
    assert not frequencies_agree(found, later, ALARM / 3)
    airport = np.isin(trips["pickup_community_area"], ["56", "76"])
    miles = np.rint(100 * trips["trip_miles"].astype(float))
    for table, chosen in ((taxi.MILES_FROM_AIRPORT, airport), (taxi.MILES_FROM_ELSEWHERE, ~airport)):
        assert quantiles_agree(miles[chosen], table, ALARM / 6)
        assert not quantiles_agree(miles[chosen] * 1.2, table, ALARM / 6)


def test_cards_are_used_where_they_should(trips):
    known = trips["payment_type"] != taxi.UNKNOWN
    conditions = (
        np.isin(trips["pickup_community_area"], ["56", "76"]),
        trips["trip_miles"].astype(float) > 8,
        trips["fare"].astype(float) > 30,
        trips["company"] != taxi.COMPANY,
    )
    assert depends_on_each((trips["payment_type"] == taxi.CARD)[known], [on[known] for on in conditions])


def test_applicants_are_employed_who_should_be():
    columns = table_of(jobs.generate()["stackoverflow_full.csv"])
    employed = columns["Employed"] == "1"
    assert stats.binomtest(int(employed.sum()), len(employed), jobs.EMPLOYED_SHARE).pvalue > ALARM
    skills, salary = (columns[c].astype(float) for c in ("ComputerSkills", "PreviousSalary"))
    assert depends_on_each(employed, (skills > 13, salary > 68_000, columns["Gender"] == "Man"))
