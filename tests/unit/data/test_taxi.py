"""Check Taxi: facts of real trips, handwritten rows in all layouts, and a stand-in of the published size."""

import io
import math

import numpy as np
import pytest

from privarms.data import preparation, prepared, sources, taxi
from privarms.errors import PrivarmsError

from .conftest import SOURCES, real_files

SAMPLE = SOURCES["taxisamplecard"]
# Tuesday, 17 May 2022, 7:15, from the Near North Side to the Near South Side.
NAMES = "trip_start_timestamp,trip_seconds,trip_miles,pickup_community_area,dropoff_community_area,fare,tolls,extras"
NAMES += ",tips,payment_type,company"
FIRST = "2022-05-17T07:15:00.000,600,2.5,8,33,9.75,0,1,2,Credit Card,Flash Cab"
TRIP = dict(zip(NAMES.split(","), FIRST.split(","), strict=True))
OF_SOURCE = {"company": taxi.COMPANY}


def lines(*trips, names=None):
    rows = [{**TRIP, **trip} for trip in trips]
    return [
        ",".join(names or TRIP) + "\n",
        *(",".join(f'"{v}"' if "," in v else v for v in row.values()) + "\n" for row in rows),
    ]


def read(*trips, names=None, label="card"):
    return taxi.read({"t.csv": io.BytesIO("".join(lines(*trips, names=names)).encode())}, {"label": label})


def reasons(table):
    return {reason: entry["rows"] for reason, entry in table.files["t.csv"]["dropped_because"].items()}


def test_facts_of_the_real_sample(tmp_path):
    facts = preparation.prepare(SAMPLE, real_files(SAMPLE), tmp_path / "a.parquet", tmp_path / "a.json")
    (file,) = SAMPLE.files
    assert (facts["data"], facts["files"][file.name]["sha256"]) == ("real", file.sha256)
    assert (facts["rows"], facts["dropped"], facts["complete"]) == (31_694, 1_206, 30_488)
    assert facts["files"][file.name]["dropped_because"] == {"payment_type: Unknown": {"rows": 1_206, "first_row": 16}}
    assert (facts["n_target"], facts["sources"], facts["source_sizes"]) == (29_535, 1, [953])
    assert (facts["K"], facts["original_dimensions"], facts["dimensions"]) == (2, 93, 3)
    assert (facts["label_counts"], facts["target_label_counts"]) == ([16_346, 14_142], [15_737, 13_798])
    assert facts["left_out_beyond"] == {"target": 0, "auxiliary": 0}
    data = prepared.load(tmp_path / "a.parquet")
    assert data.contexts.shape == (30_488, 3)


def test_nineteen_of_twenty_who_paid_by_card_gave_a_tip(tmp_path):
    tipped = SOURCES["taxisample"]
    facts = preparation.prepare(tipped, real_files(tipped), tmp_path / "a.parquet", tmp_path / "a.json")
    assert (facts["n_target"], facts["source_sizes"], facts["original_dimensions"]) == (13_798, [344], 93)
    (account,) = facts["files"].values()
    assert account["dropped_because"]["payment_type: not Credit Card"]["rows"] == 16_346
    assert facts["label_counts"][1] / facts["complete"] == pytest.approx(taxi.TIPPED_SHARE, abs=5e-5)


def test_a_tip_is_asked_of_those_who_paid_by_card():
    table = read({}, {"payment_type": "Cash"}, {"tips": "0"}, {"tips": "$1,000.50"}, {"tips": ""}, label="tipped")
    assert (table.labels.tolist(), table.label_names) == ([1, 0, 1], ["no tip", "tip"])
    assert reasons(table) == {"payment_type: not Credit Card": 1, "tips: no value": 1}


def test_a_small_table_by_hand():
    table = read(
        {},
        {"pickup_community_area": "", "dropoff_community_area": "", "payment_type": "Cash", **OF_SOURCE},
        {"pickup_community_area": "8", "dropoff_community_area": "8.0", "company": "Blue Ribbon Taxi Association Inc."},
        {"trip_start_timestamp": "05/22/2022 06:00:00 PM", "pickup_community_area": "77", "company": ""},
        {"company": "BLUE RIBBON TAXI ASSOCIATION"},
    )
    names = table.features.names
    assert len(names) == 93
    assert names[:9] == [*taxi.MOST, "hour_sine", "hour_cosine", "same_area", "pickup_community_area=1"]
    assert names[-1] == "weekday=Sunday"
    full = table.features.dense(slice(None))
    assert full[:, :5].tolist() == [[600, 2.5, 9.75, 0, 1]] * 5
    quarter_past_seven = 2 * math.pi * 7.25 / 24
    np.testing.assert_allclose(full[0, 5:7], [math.sin(quarter_past_seven), math.cos(quarter_past_seven)])
    np.testing.assert_allclose(full[3, 5:7], [-1, 0], atol=1e-12)
    # Two trips outside the city may be in different places.
    assert full[:, 7].tolist() == [0, 0, 1, 0, 0]
    ones = [[names[8:][j] for j in np.flatnonzero(row)] for row in full[:, 8:]]
    assert ones == [
        ["pickup_community_area=8", "weekday=Tuesday"],
        ["pickup_community_area=outside", "weekday=Tuesday"],
        ["pickup_community_area=8", "weekday=Tuesday"],
        ["pickup_community_area=77", "weekday=Sunday"],
        ["pickup_community_area=8", "weekday=Tuesday"],
    ]
    assert table.labels.tolist() == [1, 0, 1, 1, 1]
    assert table.sources.tolist() == [0, 1, 1, 0, 1]
    assert (table.label_names, table.source_names) == (["other", "Credit Card"], [taxi.COMPANY])
    assert reasons(table) == {}


def test_the_portal_s_own_layout_gives_the_same():
    names = [name.replace("_", " ").title() for name in TRIP]
    changes = {"trip_start_timestamp": "05/17/2022 07:15:00 AM", "fare": "$9.75", "extras": "$1.00"}
    expected, table = read({}), read(changes, names=names)
    assert table.features.dense(slice(None)).tolist() == expected.features.dense(slice(None)).tolist()
    assert table.labels.tolist() == expected.labels.tolist()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"trip_start_timestamp": "yesterday"}, "trip_start_timestamp: not a time"),
        ({"trip_seconds": "NaN"}, "trip_seconds: no value"),
        ({"trip_seconds": "86401"}, "trip_seconds: out of range"),
        ({"trip_miles": "far"}, "trip_miles: not a number"),
        ({"dropoff_community_area": "0"}, "dropoff_community_area: unknown category"),
        ({"payment_type": "Unknown"}, "payment_type: Unknown"),
    ],
)
def test_a_row_that_cannot_be_used_is_dropped_and_counted(changes, reason):
    table = read({}, changes, {"payment_type": "Cash"})
    assert table.labels.tolist() == [1, 0]
    assert reasons(table) == {reason: 1}
    assert table.files["t.csv"]["dropped_because"][reason]["first_row"] == 3
    assert (table.files["t.csv"]["rows"], table.files["t.csv"]["dropped"]) == (3, 1)


def prepare(folder, content, **entry):
    folder.mkdir(exist_ok=True)
    (folder / "t.csv").write_text("".join(content), encoding="utf-8")
    files = [{"name": "t.csv", "by_hand": "ask", **entry.pop("file", {})}]
    keys = {"title": "T", "licence": "L", "citation": "C", "module": "taxi", "options": {"label": "card"}, **entry}
    dataset = sources.describe("toy", files, **keys)
    return preparation.prepare(dataset, [folder / "t.csv"], folder / "a.parquet", folder / "a.json")


def enough(n=20):
    """Return trips of both kinds and both labels."""
    return [
        {"trip_miles": str(i), "payment_type": ("Cash", "Credit Card")[i % 2], **(OF_SOURCE if i % 3 == 0 else {})}
        for i in range(n)
    ]


def test_the_first_rows_are_taken_where_the_entry_says_how_many(tmp_path):
    whole = prepare(tmp_path / "1", lines(*enough()))
    assert (whole["n_target"], whole["source_sizes"]) == (13, [7])
    assert "at_most" not in whole
    facts = prepare(tmp_path / "2", lines(*enough()), at_most={"target": 10, "auxiliary": 5})
    assert (facts["n_target"], facts["source_sizes"], facts["complete"]) == (10, [5], 20)
    assert facts["left_out_beyond"] == {"target": 3, "auxiliary": 2}
    assert facts["reduction"]["fitted_rows"] == 5
    # The result is as if the later trips were not in the file.
    first = [trip for i, trip in enumerate(enough()) if i < 15]
    assert prepare(tmp_path / "3", lines(*first))["target_label_counts"] == facts["target_label_counts"]
    assert np.array_equal(
        prepared.load(tmp_path / "2" / "a.parquet").contexts, prepared.load(tmp_path / "3" / "a.parquet").contexts
    )


def test_the_first_lines_of_a_stand_in_are_taken_without_regard_to_at_most(tmp_path, monkeypatch):
    monkeypatch.setattr(taxi, "generate", lambda: {"t.csv": [line.rstrip() for line in lines(*enough())]})
    keys = {"title": "T", "licence": "L", "citation": "C", "module": "taxi", "options": {"label": "card"}}
    dataset = sources.describe("toy", [{"name": "t.csv", "by_hand": "ask"}], at_most={"target": 5}, **keys)
    facts = preparation.prepare(dataset, None, tmp_path / "a.parquet", tmp_path / "a.json", lines=13)
    # One of the lines is the header.
    assert (facts["data"], facts["rows"], facts["n_target"], facts["source_sizes"]) == ("stand-in", 12, 8, [4])
    assert "remarks" not in facts


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lines(*({**t, "payment_type": "Cash"} for t in enough())), "all rows of the target have the label 'other'"),
        (lines(*({**t, "company": "X"} for t in enough())), f"no complete row belongs to the source '{taxi.COMPANY}'"),
        (lines(*({**t, **OF_SOURCE} for t in enough())), "no complete row belongs to the target"),
        ("".join(lines(*enough()))[:-40], r"t\.csv: CSV parse error: Row #21: Expected 11 columns"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_used_are_refused(tmp_path, content, message):
    with pytest.raises(PrivarmsError, match=message):
        prepare(tmp_path / "out", content)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["t.csv"]
