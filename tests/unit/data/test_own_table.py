"""Check a user's own data: an entry in sources.yaml, CSV or Parquet files, and messages about faults."""

import io
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from privarms.data import own_table, preparation, sources
from privarms.environments import classification
from privarms.errors import PrivarmsError

TABLE = {"label": "outcome", "source": {"column": "clinic", "target": "north"}}
CSV = """id,age,clinic,ward,outcome
1,30,north,a,better
2,40.5,south,b,worse
3,,north,a,better
4,50,north,,worse
5,60,east,c,NA
6,20,east,a,better
7,35,south,b,same
"""


def entry(**changes):
    files = [{"name": changes.pop("name", "visits.csv"), "by_hand": "ask the clinics"}]
    return {"title": "Visits", "licence": "private", "citation": "Us (2026)", "files": files, "table": TABLE} | changes


def read(text, **description):
    return own_table.read({"visits.csv": io.BytesIO(text.encode())}, {**TABLE, **description})


def reasons(table):
    (account,) = table.files.values()
    return {reason: tuple(counts.values()) for reason, counts in account["dropped_because"].items()}


def test_a_small_table_by_hand():
    table = read(CSV, leave_out=["id"])
    assert table.features.names == ["age", "ward=a", "ward=b"]
    assert table.features.dense(slice(None)).tolist() == [[30, 1, 0], [40.5, 0, 1], [20, 1, 0], [35, 0, 1]]
    assert (table.label_names, table.labels.tolist()) == (["better", "same", "worse"], [0, 2, 0, 1])
    assert (table.source_names, table.sources.tolist()) == (["east", "south"], [0, 2, 1, 2])
    assert reasons(table) == {"outcome: no value": (1, 6), "age: no value": (1, 4), "ward: no value": (1, 5)}
    assert (table.files["visits.csv"]["rows"], table.files["visits.csv"]["dropped"]) == (7, 3)


MANY = "age,outcome\n" + "".join(f"{n},{'yes' if n % 2 else 'no'}\n" for n in range(10, 90))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MANY.replace("\n", "\r"), "new-line character"),
        (MANY.replace("age,outcome", "outcome,outcome"), "several columns named 'outcome'; rename"),
        (MANY.replace("yes", "\0yes"), "NUL bytes"),
        (MANY.replace("17,", "inf,"), r"column age: 79 of 80 values are numbers, but row 9 has 'inf'; list"),
        (MANY.replace("17,", "1e400,"), "row 9 has '1e400'"),
    ],
)
def test_files_that_people_have_reported_elsewhere_are_one_error(text, words):
    with pytest.raises(PrivarmsError, match=words):
        read(text, source=None)


def test_a_byte_order_mark_and_the_ends_of_lines_of_windows_change_nothing():
    plain = read(MANY, source=None)
    for other in ("\ufeff" + MANY, MANY.replace("\n", "\r\n")):
        table = read(other, source=None)
        assert table.features.names == plain.features.names == ["age"]
        assert (table.label_names, table.labels.tolist()) == (["no", "yes"], plain.labels.tolist())


def test_a_column_of_numbers_may_be_taken_for_texts_and_must_be_one_if_said_so():
    table = read(CSV, texts=["id"])
    assert table.features.names == ["age", "id=1", "id=2", "id=6", "id=7", "ward=a", "ward=b"]
    table = read(CSV.replace("40.5", "forty"), leave_out=["id"])
    assert table.features.names == ["age=20", "age=30", "age=35", "age=forty", "ward=a", "ward=b"]
    table = read(CSV.replace("40.5", "forty"), leave_out=["id"], numbers=["age"])
    assert table.features.names == ["age", "ward=a", "ward=b"]
    assert reasons(table)["age: not a number"] == (1, 3)


COLUMNS = {
    "age": pa.array([30, 40.5, None, 50, 60, 20, 35]),
    "old": pa.array([0, 1, 1, 1, None, 0, 0]),
    "clinic": pa.array(["north", "south", "north", "north", "east", "east", "south"]).dictionary_encode(),
    "ward": pa.array(["a", "b", "a", None, "c", "a", "b"], pa.large_string()),
    "outcome": pa.array([1, 0, 1, 0, None, 1, 2]),
}


def parquet(columns=COLUMNS, **description):
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return own_table.read({"visits.parquet": stream}, {**TABLE, **description})


def test_parquet_is_read_like_csv():
    table = parquet()
    assert table.features.names == ["age", "old", "ward=a", "ward=b"]
    assert table.features.dense(slice(None)).tolist() == [[30, 0, 1, 0], [40.5, 1, 0, 1], [20, 0, 1, 0], [35, 0, 0, 1]]
    assert (table.label_names, table.labels.tolist()) == (["0", "1", "2"], [1, 0, 1, 2])
    assert (table.source_names, table.sources.tolist()) == (["east", "south"], [0, 2, 1, 2])
    assert reasons(table) == {"outcome: no value": (1, 5), "age: no value": (1, 3), "ward: no value": (1, 4)}
    assert parquet(texts=["age"]).features.names[1:3] == ["age=20", "age=30"]
    # pandas writes the index as a column.
    assert parquet({**COLUMNS, "__index_level_0__": pa.array(range(7))}).features.names == table.features.names


def test_a_parquet_file_of_another_shape_is_refused():
    with pytest.raises(PrivarmsError, match=r"visits\.parquet: not a complete Parquet file of texts and numbers"):
        parquet({**COLUMNS, "tags": pa.array([["x"]] * 7)})
    with pytest.raises(PrivarmsError, match=r"visits\.parquet: not a complete Parquet file"):
        own_table.read({"visits.parquet": io.BytesIO(b"PAR1 cut")}, TABLE)
    with pytest.raises(PrivarmsError, match=r"visits\.parquet: no complete row"):
        parquet({name: values[:0] for name, values in COLUMNS.items()})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("outcome", "result", "no column 'outcome'; found id, age, clinic, ward, result; correct the header, the"),
        ("north,", "west,", "column clinic: expected the target's value 'north' and .*; found east, south, west"),
        ("35,south,b,same\n", "35,so", "Row #8: Expected 5 columns, got 3"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(old, new, message):
    with pytest.raises(PrivarmsError, match=message) as caught:
        read(re.sub(old, new, CSV))
    assert str(caught.value).startswith("visits.csv")


def test_too_many_labels_or_categories_are_refused():
    rows = [f"{i},{i % 7},{('north', 'south')[i % 2]},w{i % 257},{i % 65}" for i in range(70)]
    text = CSV.splitlines()[0] + "\n" + "\n".join(rows)
    with pytest.raises(PrivarmsError, match="column outcome: 65 different labels; expected at most 64 classes"):
        read(text)
    rows = [f"{i},{i % 7},{('north', 'south')[i % 2]},w{i % 257},{i % 2}" for i in range(300)]
    text = CSV.splitlines()[0] + "\n" + "\n".join(rows)
    with pytest.raises(PrivarmsError, match=r"column ward: 257 different texts; .* `leave_out`, or in `numbers`"):
        read(text)
    assert len(read(text, leave_out=["ward"]).labels) == 300


def many(n=60):
    rng = np.random.default_rng(0)
    clinics = "north", "south", "east"
    rows = [f"{rng.normal()},{rng.normal()},{'uvw'[i % 3]},{clinics[i // 3 % 3]},{i % 2}" for i in range(n)]
    return "a,b,c,clinic,outcome\n" + "\n".join(rows) + "\n"


def prepare(folder, text, **changes):
    """Prepare a dataset from a list of sources, as a user would."""
    folder.mkdir(exist_ok=True)
    (folder / "sources.yaml").write_text(yaml.safe_dump({"visits": entry(**changes)}), encoding="utf-8")
    dataset = sources.load_sources(folder / "sources.yaml")["visits"]
    (folder / "visits.csv").write_text(text, encoding="utf-8")
    return preparation.prepare(dataset, [folder / "visits.csv"], folder / "v.parquet", folder / "v.json")


def test_an_entry_is_all_that_is_needed(tmp_path):
    facts = prepare(tmp_path, many())
    assert (facts["dataset"], facts["data"], facts["title"]) == ("visits", "real", "Visits")
    assert (facts["n_target"], facts["source_names"], facts["source_sizes"]) == (21, ["east", "south"], [18, 21])
    assert (facts["K"], facts["original_dimensions"], facts["dimensions"]) == (2, 5, 3)
    assert facts["options"] == {"reduction": "pca_auxiliary"}
    assert facts["reduction"]["fitted_rows"] == 39
    assert len(facts["files"]["visits.csv"]["sha256"]) == 64
    assert json.loads((tmp_path / "v.json").read_text()) == facts
    environment = classification.configure(tmp_path / "v.parquet")
    assert environment.contexts.shape == (21, 3)
    assert environment.source_starts.tolist() == [0, 18, 39]


def test_without_sources_all_rows_are_the_target(tmp_path):
    facts = prepare(tmp_path, many(), table={"label": "outcome", "leave_out": ["clinic", "b", "c"]})
    assert (facts["n_target"], facts["sources"], facts["sum_n_source"], facts["max_n_source"]) == (60, 0, 0, 0)
    assert (facts["options"], facts["reduction"]["fitted_rows"]) == ({"reduction": "pca_all"}, 60)
    assert facts["dimensions"] == 1
    environment = classification.configure(tmp_path / "v.parquet")
    assert environment.contexts.shape == (60, 1)
    assert environment.source_contexts.shape == (0, 1)
    assert environment.source_starts.tolist() == [0]
    with pytest.raises(PrivarmsError, match=r"visits\.options\.reduction: unknown value 'pca_auxiliary'"):
        prepare(tmp_path, many(), table={"label": "outcome"}, options={"reduction": "pca_auxiliary"})


HEADER = "a,clinic,outcome\n"
NO_FEATURE = {"table": {"label": "outcome", "leave_out": ["a", "b", "c", "clinic"]}}


@pytest.mark.parametrize(
    ("text", "changes", "refusal"),
    [
        (many().replace(",1\n", ",0\n"), {}, "visits: all rows of the target have the label '0'"),
        (many(), NO_FEATURE, "visits: no column is left as a feature"),
        (HEADER + "1,north,0\n1,south,1\n" * 9 + "2,north,1\n", {}, "no feature varies among the 9 rows"),
    ],
)
def test_data_that_make_no_bandit_are_refused(tmp_path, text, changes, refusal):
    with pytest.raises(PrivarmsError, match=refusal):
        prepare(tmp_path / "out", text, **changes)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["sources.yaml", "visits.csv"]


def test_grouped_digits_and_dollars_are_numbers():
    texts = ["$1,234.50", "1,234", "-7", "1e3", "x"]
    rows = "".join(f'{i},"{text}",north,a,{"better" if i % 2 else "worse"}\n' for i, text in enumerate(texts))
    table = read(f"id,age,clinic,ward,outcome\n{rows}9,1,south,a,better\n", leave_out=["id", "ward"], numbers=["age"])
    assert table.features.dense(slice(None)).ravel().tolist() == [1234.5, 1234, -7, 1000, 1]
    assert reasons(table) == {"age: not a number": (1, 6)}


def test_a_column_that_is_mostly_malformed_is_refused():
    rows = "".join(f'{i},"3,{i}",north,a,better\n' for i in range(600))
    with pytest.raises(PrivarmsError, match=r"visits.csv: 600 of 1,000 rows are malformed .*expected at most 1%"):
        read("id,age,clinic,ward,outcome\n" + rows + "1,2.5,south,a,worse\n" * 400, leave_out=["id"], numbers=["age"])


def test_a_label_with_a_dot_behind_it_is_the_label():
    table = read("age,outcome\n1,>50K\n2,>50K.\n3,<=50K.\n4,<=50K\n5,etc.\n", source=None)
    assert table.label_names == ["<=50K", ">50K", "etc."]
