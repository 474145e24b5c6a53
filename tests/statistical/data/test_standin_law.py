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
    }
    for column, table in tables.items():
        assert frequencies_agree(columns[column], table, ALARM / 6)
    households = list(zip(*(columns[c].tolist() for c in ("marital-status", "relationship", "sex")), strict=True))
    assert frequencies_agree(households, adult.households(), ALARM / 6)


def test_other_frequencies_are_refused(columns):
    values = columns["race"].copy()
    values[np.flatnonzero(values == "White")[:400]] = "Black"
    assert not frequencies_agree(values, adult.RACE, ALARM)
    assert not frequencies_agree(np.append(columns["race"][:-1], "Martian"), adult.RACE, ALARM)


def share_agrees(count, n, share, alarm):
    """Whether a count of n is that of the share, by the exact binomial test."""
    return bool(stats.binomtest(int(count), n, share).pvalue > alarm)


def test_the_label_has_the_real_frequency(columns):
    # Labels are independent with probabilities whose mean is the real share: the count varies less than a binomial.
    n = len(columns["income"])
    share = adult.LABEL_COUNTS[">50K"] / sum(adult.LABEL_COUNTS.values())
    assert share_agrees((columns["income"] == ">50K").sum(), n, share, ALARM)
    # A label of another share, 3 points off, is refused.
    other = np.random.default_rng(1).random(n) < share + 0.03
    assert not share_agrees(other.sum(), n, share, ALARM)


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


def test_the_label_depends_on_what_it_should(columns):
    label = columns["income"] == ">50K"
    age = columns["age"].astype(int)
    conditions = {
        "schooling": columns["education-num"].astype(int) >= 13,
        "marriage": columns["marital-status"] == "Married-civ-spouse",
        "hours": columns["hours-per-week"].astype(int) > 40,
        "gain": columns["capital-gain"].astype(int) > 5000,
        "middle age": (age > 35) & (age < 60),
        "skill": np.isin(columns["occupation"], ["Exec-managerial", "Prof-specialty"]),
    }
    for on in conditions.values():
        assert depends(label, on, 1e-12)
    # A label without dependence is found to have none.
    shuffled = np.random.default_rng(2).permutation(label)
    assert not any(depends(shuffled, on, ALARM / len(conditions)) for on in conditions.values())


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
    card = (trips["payment_type"] == taxi.CARD)[known]
    conditions = {
        "airport": np.isin(trips["pickup_community_area"], ["56", "76"]),
        "distance": trips["trip_miles"].astype(float) > 8,
        "fare": trips["fare"].astype(float) > 30,
        "other company": trips["company"] != taxi.COMPANY,
    }
    for on in conditions.values():
        assert depends(card, on[known], 1e-12)
    shuffled = np.random.default_rng(5).permutation(card)
    assert not any(depends(shuffled, on[known], ALARM / 4) for on in conditions.values())


def test_applicants_are_employed_who_should_be():
    columns = table_of(jobs.generate()["stackoverflow_full.csv"])
    employed = columns["Employed"] == "1"
    assert share_agrees(employed.sum(), len(employed), jobs.EMPLOYED_SHARE, ALARM / 2)
    assert not share_agrees(employed.sum(), len(employed), jobs.EMPLOYED_SHARE + 0.02, ALARM / 2)
    skills, salary = (columns[c].astype(float) for c in ("ComputerSkills", "PreviousSalary"))
    conditions = {"skills": skills > 13, "salary": salary > 68_000, "men": columns["Gender"] == "Man"}
    for on in conditions.values():
        assert depends(employed, on, 1e-9)
    shuffled = np.random.default_rng(6).permutation(employed)
    assert not any(depends(shuffled, on, ALARM / 6) for on in conditions.values())
