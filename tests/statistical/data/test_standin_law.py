"""The generated stand-ins: the real frequencies where they are known, and a label that depends on the rest."""

import collections
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from privarms.data import jobs, taxi

pytestmark = pytest.mark.statistical

# For each test function, shared among its checks.
ALARM = 1e-5


def frequencies_agree(values, counts, alarm):
    """Whether levels occur as often as `counts` says, by the chi-square test (levels below 5 pooled)."""
    found = collections.Counter(values)
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


def share_agrees(count, n, share, alarm):
    """Whether a count of n is that of the share, by the exact binomial test."""
    return bool(stats.binomtest(int(count), n, share).pvalue > alarm)


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
