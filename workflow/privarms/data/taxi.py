"""Chicago's Taxi Trips (City of Chicago, resource wrvz-psew): did a passenger who paid by credit card give a tip?

Columns may have the names of the API (`trip_seconds`), of the data portal's export (`Trip Seconds`) or upper case
(`TRIP_SECONDS`), in any order; other columns are ignored.

Ma et al. (2025) do not state the period, the label, the features (93 before the reduction) and the auxiliary source.
`label` is `tipped`, among the trips paid by credit card: true for 19 of 20. Or it is `card`, whether the trip was paid
by card: true for about half of all trips. The default is `tipped`, because all published ratios of Taxi are near 1, as
expected if nearly all labels are alike. Here the features are the 8 NUMBERS, the pick-up area (78 levels) and the
weekday (7). Tips, and the total that includes them, are left out. Only tips by card are recorded, so they would reveal
either label. The source is one company with about 3% of the trips, as in the paper's Table 1.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

import numpy as np
import pandas as pd

from privarms.data import delimited
from privarms.data.features import Features, Table
from privarms.data.standin import logistic

OPTIONS = {"label": ("tipped", "card")}
# May be followed by "Inc.".
COMPANY = "Blue Ribbon Taxi Association"
COLUMNS = (
    "trip_start_timestamp",
    "trip_seconds",
    "trip_miles",
    "pickup_community_area",
    "dropoff_community_area",
    "fare",
    "tolls",
    "extras",
    "payment_type",
    "company",
)
# The largest plausible values: a day, miles, dollars. Rows with larger values are dropped and counted.
MOST = {"trip_seconds": 86_400, "trip_miles": 200, "fare": 1000, "tolls": 200, "extras": 200}
NUMBERS = (*MOST, "hour_sine", "hour_cosine", "same_area")
# The city's 77 community areas; the portal leaves the column empty for places outside of them.
AREAS = (*map(str, range(1, 78)), "outside")
OUTSIDE = AREAS.index("outside")
OHARE, MIDWAY = AREAS.index("76"), AREAS.index("56")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CARD, UNKNOWN = "Credit Card", "Unknown"
PAYMENTS = (
    *(CARD, "Cash", "Mobile", "Prcard", "Pcard", "Prepaid", "Split", "Way2ride", "No Charge", "Dispute"),
    UNKNOWN,
)
LABELS = {"tipped": ("no tip", "tip"), "card": ("other", CARD)}
TIPS = "tips"
# The portal's export writes times like this, the API and most tools as ISO 8601.
PORTAL_TIME = "%m/%d/%Y %I:%M:%S %p"

# For the stand-in: counts and quantiles among the 30,488 trips of 16 to 18 May 2022 with a known way to pay; the sizes
# of Table 1; the number of trips paid in an unknown way for a file of this size.
AREA_COUNTS = (
    *(132, 199, 384, 120, 71, 1016, 546, 6356, 5, 42, 40, 37, 36, 47, 42, 82, 9, 3, 11, 8, 43, 109, 21, 302, 53, 8),
    *(25, 2572, 24, 16, 37, 4965, 664, 52, 120, 47, 39, 107, 98, 18, 169, 56, 145, 102, 20, 42, 7, 32, 62, 23, 38, 11),
    *(41, 13, 12, 989, 3, 10, 24, 20, 27, 8, 5, 3, 2, 13, 14, 53, 80, 9, 32, 13, 42, 2, 42, 6269, 341, 3208),
)
HOUR_COUNTS = (
    *(517, 348, 173, 94, 117, 356, 618, 1096, 1639, 1726, 1627, 1667),
    *(1877, 1819, 2007, 2128, 2227, 2308, 2077, 1728, 1439, 1268, 931, 701),
)
# In hundredths of a mile, from the smallest to the largest; trips from an airport are longer.
MILES_FROM_AIRPORT = (50, 730, 1169, 1352, 1528, 1680, 1740, 1779, 1818, 1960, 6812)
MILES_FROM_ELSEWHERE = (50, 88, 120, 158, 207, 300, 487, 798, 1156, 1721, 6208)
TIPPED_SHARE = 0.9505
OTHER_PAYMENTS = {"Cash": 0.5365, "Mobile": 0.2472, "Prcard": 0.2144, "No Charge": 0.001, "Dispute": 0.0009}
OTHER_COMPANIES = ("Flash Cab", "Sun Taxi", "City Service", "Taxicab Insurance Agency, LLC")
# Numbers of trips by card (target, source), with unknown payment, and with other payments.
STAND_IN_TARGET, STAND_IN_SOURCE, STAND_IN_UNKNOWN, STAND_IN_OTHER = 621_957, 18_945, 25_000, 70_000
STAND_IN_FIRST_DAY, STAND_IN_DAYS = np.datetime64("2022-05-01"), 61
STAND_IN_SEED = 2022


def read(files: Mapping[str, BinaryIO], options: Mapping[str, str]) -> Table:
    """Return the trips of one file with all needed values, in their order.

    Rows with a missing, malformed or implausible value and trips with unknown payment are dropped and counted. For the
    label `tipped`, trips not paid by card are dropped too.
    """
    ((file, stream),) = files.items()
    of_tips = options["label"] == "tipped"
    columns = [*COLUMNS, *([TIPS] if of_tips else [])]
    # The portal leaves a cell empty; tools that write the file again put a word there.
    rows = delimited.read(file, stream, columns, _canonical, missing=delimited.WORDS)
    for column in ("pickup_community_area", "dropoff_community_area"):
        # Tools that read a column with empty cells as numbers write 8.0.
        rows.frame[column] = rows.frame[column].str.removesuffix(".0").fillna(AREAS[OUTSIDE])
    payment = rows.codes("payment_type", PAYMENTS)
    pickup = rows.codes("pickup_community_area", AREAS)
    dropoff = rows.codes("dropoff_community_area", AREAS)
    weekday, hour = _start(rows)
    numbers = [rows.numbers(column, 0.0, most) for column, most in MOST.items()]
    rows.drop(payment == PAYMENTS.index(UNKNOWN), f"payment_type: {UNKNOWN}")
    label = payment == PAYMENTS.index(CARD)
    if of_tips:
        rows.drop(~label, f"payment_type: not {CARD}")
        label = rows.numbers(TIPS, low=0.0) > 0
    angle = 2 * np.pi * hour / 24
    numbers += [np.sin(angle), np.cos(angle), (pickup == dropoff) & (pickup != OUTSIDE)]
    auxiliary = rows.frame["company"].str.lower().str.startswith(COMPANY.lower()).to_numpy(bool, na_value=False)
    account, kept = rows.account(), rows.kept
    features = Features(
        np.column_stack([values[kept] for values in numbers]),
        list(NUMBERS),
        np.column_stack((pickup, weekday)).astype(np.int16)[kept],
        ["pickup_community_area", "weekday"],
        [list(AREAS), list(WEEKDAYS)],
    )
    sources = auxiliary[kept].astype(np.int64)
    names = list(LABELS[options["label"]])
    return Table(features, label[kept].astype(np.int64), names, sources, [COMPANY], {file: account})


def generate() -> dict[str, Iterator[str]]:
    """Return the synthetic stand-in: lines in the layout of the API, with the sizes of Table 1, always identical.

    Areas, hours and distances have about the frequencies of the tables above. The dependence is invented: duration,
    fare and extras depend on distance and airport; tips depend on airport, distance, hour and company.
    """
    rng = np.random.default_rng(STAND_IN_SEED)
    sizes = (STAND_IN_TARGET, STAND_IN_SOURCE, STAND_IN_UNKNOWN, STAND_IN_OTHER)
    n = sum(sizes)
    kind = rng.permutation(np.repeat([0, 1, 2, 3], sizes))
    area = _draw(rng, AREA_COUNTS, n)
    hour = _draw(rng, HOUR_COUNTS, n)
    quarter = rng.integers(0, 4, n)
    day = np.sort(rng.integers(0, STAND_IN_DAYS, n))
    airport = (area == OHARE) | (area == MIDWAY)
    place, grid = rng.random(n), np.linspace(0, 1, len(MILES_FROM_AIRPORT))
    miles = np.where(airport, np.interp(place, grid, MILES_FROM_AIRPORT), np.interp(place, grid, MILES_FROM_ELSEWHERE))
    miles = np.rint(miles) / 100
    seconds = np.rint(60 * (4 + 1.8 * miles) * np.exp(0.3 * rng.standard_normal(n)))
    fare = np.rint(4 * (3.5 + 2.0 * miles + 0.15 * seconds / 60)) / 4
    extras = np.where(rng.random(n) < np.where(airport, 0.97, 0.26), np.where(airport, 4.0, 1.0), 0.0)
    tolls = np.where(rng.random(n) < 0.001, 5, 0)
    score = 1.2 * airport + 0.3 * np.log(miles) + 0.4 * (hour >= 19) - 1.5 * (kind == 1) + 0.1 * extras
    tipped = (rng.random(n) < logistic(score, TIPPED_SHARE)) & (kind < 2)
    other = _draw(rng, tuple(OTHER_PAYMENTS.values()), n)
    payments = [CARD, *OTHER_PAYMENTS, UNKNOWN]
    payment = np.where(kind == 2, len(payments) - 1, np.where(kind == 3, other + 1, 0))
    stays = rng.random(n) < 0.12
    dropoff = np.where(stays, area, _draw(rng, AREA_COUNTS, n))
    company = np.where(kind == 1, 0, 1 + _draw(rng, (1.0,) * len(OTHER_COMPANIES), n))
    starts = STAND_IN_FIRST_DAY + 15 * np.arange(96 * STAND_IN_DAYS).astype("timedelta64[m]")

    def texts(codes: np.ndarray, levels: Sequence[str] | np.ndarray) -> "pd.Categorical[str]":
        return pd.Categorical.from_codes(codes, pd.Index(levels))

    trips = pd.DataFrame(
        {
            "trip_start_timestamp": texts(96 * day + 4 * hour + quarter, np.datetime_as_string(starts, "ms")),
            "trip_seconds": seconds.astype(int),
            "trip_miles": miles,
            "pickup_community_area": texts(area, [*AREAS[:OUTSIDE], ""]),
            "dropoff_community_area": texts(dropoff, [*AREAS[:OUTSIDE], ""]),
            "fare": fare,
            "tolls": tolls,
            "extras": extras.astype(int),
            TIPS: np.where(tipped, 3, 0),
            "payment_type": texts(payment, payments),
            "company": texts(company, [COMPANY, *OTHER_COMPANIES]),
        }
    )
    # In parts, because all lines together would need several times the memory of the table.
    parts = (trips[i : i + 50_000].to_csv(index=False, header=i == 0) for i in range(0, n, 50_000))
    return {"taxi_trips.csv": (line for part in parts for line in part.splitlines())}


def _canonical(name: str) -> str:
    return re.sub(r"[\s_]+", "_", name.strip().lower())


def _start(rows: delimited.Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return weekday int64[n], 0 for Monday, and hour float64[n] in [0, 24) of the start; drop rows without one."""
    texts = rows.texts("trip_start_timestamp")
    start = pd.to_datetime(texts, format="ISO8601", errors="coerce")
    start = start.fillna(pd.to_datetime(texts, format=PORTAL_TIME, errors="coerce"))
    rows.drop(start.isna().to_numpy(), "trip_start_timestamp: not a time", malformed=True)
    weekday, hour = start.dt.day_of_week.fillna(-1), start.dt.hour + start.dt.minute / 60
    return weekday.to_numpy(np.int64), hour.to_numpy()


def _draw(rng: np.random.Generator, weights: tuple[float, ...], n: int) -> np.ndarray:
    """Return int[n], each index with a frequency proportional to its weight, on average."""
    return rng.choice(len(weights), n, p=np.array(weights) / sum(weights))
