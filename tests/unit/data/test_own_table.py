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
from privarms.data.remarks import remarks
from privarms.data.sources import OwnTable
from privarms.environments import classification
from privarms.errors import PrivarmsError

TABLE = {"label": "outcome", "source": {"column": "clinic", "target": "north"}}
CSV = """id,age,clinic,ward,outcome
1,30,north,a,better
2,40.5,south,b,worse
3,,north,a,better
4,50,north,,worse
5,60,east,c,
6,20,east,a,better
7,35,south,b,same
"""


def entry(**changes):
    files = [{"name": changes.pop("name", "visits.csv"), "by_hand": "ask the clinics"}]
    return {"title": "Visits", "licence": "private", "citation": "Us (2026)", "files": files, "table": TABLE} | changes


def own(**description):
    """Return the description of the columns; a key with the value None is left out."""
    return OwnTable.model_validate({k: v for k, v in (TABLE | description).items() if v is not None})


def read(text, **description):
    return own_table.read({"visits.csv": io.BytesIO(text.encode())}, own(**description))


def reasons(table):
    (account,) = table.files.values()
    return {reason: tuple(counts.values()) for reason, counts in account["dropped_because"].items()}


def described(text, **description):
    """Return the labels, and the reasons for which rows are dropped, of a table without sources."""
    table = read(text, source=None, **description)
    return table.label_names, reasons(table)


def test_words_for_a_missing_value_are_values_in_labels_and_categories():
    text = "age,smoking,outcome\n30,NA,None\n31,none,Mild\n32,N/A,Severe\n33,null,?\n"
    table = read(text, source=None)
    assert (table.label_names, reasons(table)) == (["?", "Mild", "None", "Severe"], {})
    assert table.features.names == ["age", "smoking=N/A", "smoking=NA", "smoking=none", "smoking=null"]
    of_sources = read(text, label="age", source={"column": "outcome", "target": "None"})
    assert of_sources.source_names == ["?", "Mild", "Severe"]
    # The user may say otherwise.
    assert described(text, missing=["None", "null"]) == (
        ["Mild", "Severe"],
        {"outcome: no value": (1, 2), "smoking: no value": (1, 5)},
    )


def test_words_for_a_missing_value_are_missing_where_all_other_values_are_numbers():
    text = "age,outcome\n30,0\nNone,1\n32,NA\n33,1\n"
    assert described(text) == (["0", "1"], {"outcome: no value": (1, 4), "age: no value": (1, 3)})
    assert described(text, texts=["outcome"]) == (["0", "1", "NA"], {"age: no value": (1, 3)})
    assert described(text, texts=["age", "outcome"]) == (["0", "1", "NA"], {})
    # A column of `numbers` may contain other texts too.
    assert described(text.replace("33", "old"), numbers=["age"])[1]["age: no value"] == (1, 3)


def rarely_filled(n=300, filled=10):
    rows = "".join(f"{i},{'' if i % filled else 'late'},{'yn'[i % 2]}\n" for i in range(n))
    return f"age,remark,outcome\n{rows}"


def test_a_column_that_costs_more_than_a_tenth_of_the_rows_is_one_error_with_the_ways_out():
    with pytest.raises(PrivarmsError) as error:
        read(rarely_filled(), source=None)
    message = str(error.value)
    for words in ("visits.csv, column remark: 270 of 300 rows", "first row 3", "10%", "`leave_out`", "`incomplete`"):
        assert words in message
    assert described(rarely_filled(), leave_out=["remark"]) == (["n", "y"], {})
    # Every tenth row is kept, and all of these are even.
    assert described(rarely_filled(), incomplete=["remark"]) == (["y"], {"remark: no value": (270, 3)})
    with pytest.raises(PrivarmsError, match="no column 'remarks'"):
        read(rarely_filled(), source=None, incomplete=["remarks"])


def test_the_limit_is_for_each_column_whatever_their_order():
    # Both columns are empty in the same 40 of 100 rows, so the second one costs no further row.
    rows = [f"{i},{i},{'yn'[i % 2]}" if i % 5 > 1 else f",,{'yn'[i % 2]}" for i in range(100)]
    text = "\n".join(["a,b,outcome", *rows])
    with pytest.raises(PrivarmsError, match=r"column a: 40 of 100 .*; column b: 40 of 100 "):
        read(text, source=None)
    with pytest.raises(PrivarmsError, match=r"^visits\.csv, column b: 40 of 100 "):
        read(text, source=None, incomplete=["a"])


def test_a_label_of_numbers_that_loses_a_word_names_the_key_that_keeps_the_word():
    text = "age,grade\n" + "".join(f"{i},{('None', 1, 2)[i % 3]}\n" for i in range(60))
    with pytest.raises(PrivarmsError, match=r"column grade: 20 of 60 .* `texts`") as error:
        read(text, source=None, label="grade")
    assert "leave_out" not in str(error.value)
    assert read(text, source=None, label="grade", texts=["grade"]).label_names == ["1", "2", "None"]


def test_rows_without_any_value_are_counted_apart():
    text = "age,outcome\n" + "".join(f"{i},{'yn'[i % 2]}\n" for i in range(20)) + ",\n" * 30
    assert described(text) == (["n", "y"], {"empty row": (30, 22)})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["5%", "10%"], "column x: 2 of 2 categories look like numbers or dates, such as '10%'"),
        (["1 200", "900"], "such as '1 200'"),
        (["1\N{NO-BREAK SPACE}200", "900"], "2 of 2 categories"),
        (["\N{MINUS SIGN}3", "4"], "2 of 2 categories"),
        (["0;5", "0;6"], None),
        (["1.200.300", "900"], "such as '1.200.300'"),
        (["<5", ">90"], "2 of 2 categories"),
        (["12 mg", "13 mg"], "such as '12 mg'"),
        (["1A", "2B"], None),
        (["ward 1", "ward 2"], None),
        (["3 Jan 2026", "4. Februar 2026"], "such as '3 Jan 2026'"),
        (["12:05", "12:06"], "such as '12:05'"),
        (["0-5", "6-10"], None),
        (["2026-01-03", "2026-01-04"], "such as '2026-01-03'"),
        (["Good", "good"], "column x: 'Good' and 'good' are different values"),
        (["Bern", "Bern\u200b"], r"'Bern' and 'Bern\u200b' are different values"),
        (["Zu\u0308rich", "Z\u00fcrich"], "are different values"),
        (["a", "b"], None),
    ],
)
def test_doubtful_texts_are_remarked(values, words):
    text = "x,age,outcome\n" + "".join(f"{values[i % 2]},{i % 30},{'yn'[i % 3 > 0]}\n" for i in range(40))
    remarks = read(text, source=None).remarks
    assert len(remarks) == (words is not None)
    assert all(words in line for line in remarks)
    # A column that the user calls a category is one.
    of_numbers = [line for line in read(text, source=None, texts=["x"]).remarks if "look like numbers" in line]
    assert of_numbers == []


def test_decimal_commas_and_labels_that_are_one_number_are_remarked():
    text = "x;outcome\n" + "".join(f"0,{i % 7};{('1', '1.0', '0')[i % 3]}\n" for i in range(42))
    commas, labels = read(text, source=None, delimiter=";").remarks
    assert "column x: 7 of 7 categories look like numbers" in commas
    assert "column outcome: '1' and '1.0' are different values" in labels


@pytest.mark.parametrize(
    ("delimiter", "values", "words"),
    [
        (",", ["850", "1.020"], "2 numbers such as '1.020' are among whole numbers such as '850'; the point was read"),
        (";", ["850", "1,020"], "2 numbers such as '1,020' are among whole numbers such as '850'; the comma was read"),
        (";", ["4", "0,435"], "column x: 2 of 2 categories look like numbers"),
        (",", ["1.5", "1.020"], None),
        (",", ["1", "0.125"], None),
        (",", ["850", '"1,020"'], None),
    ],
)
def test_a_sign_that_may_be_a_decimal_point_or_a_sign_of_thousands_is_remarked(delimiter, values, words):
    text = "x,outcome\n".replace(",", delimiter)
    text += "".join(f"{values[i % 2]}{delimiter}{'yn'[i > 1]}\n" for i in range(4))
    remarks = read(text, source=None, delimiter=delimiter).remarks
    assert len(remarks) == (words is not None)
    assert all(words in line for line in remarks)


def test_a_column_that_counts_the_rows_is_remarked():
    text = "visit,age,outcome\n" + "".join(f"{i + 7},{i % 9},{'yn'[i % 2]}\n" for i in range(20))
    (line,) = read(text, source=None).remarks
    assert "column visit: counts the rows, from 7 to 26; list it in `leave_out`" in line
    # Also if a row is left out; not if two rows change places.
    assert read(text.replace("9,2,y", "9,,y"), source=None, incomplete=["age"]).remarks == (line,)
    swapped = text.replace("\n8,", "\n0,").replace("\n9,", "\n8,").replace("\n0,", "\n9,")
    assert read(swapped, source=None).remarks == ()


@pytest.mark.parametrize("leave_out", [[], ["remark"]])
def test_rows_within_an_unclosed_quotation_mark_are_one_clear_error(leave_out):
    lines = [f"{i % 9},fine,{'yn'[i % 2]}\n" for i in range(20)]
    lines[3], lines[12] = '3,"fine,n\n', '3,fine",n\n'
    with pytest.raises(PrivarmsError, match=r"visits.csv: column 'remark' has a value of 10 lines, which are rows"):
        read("age,remark,outcome\n" + "".join(lines), source=None, leave_out=leave_out)
    lines[3] = '3,"fine, too,n\n'
    with pytest.raises(PrivarmsError, match="which are rows"):
        read("age,remark,outcome\n" + "".join(lines), source=None, leave_out=leave_out)
    # A value may have lines, also such as have as many commas as a row.
    lines[3], lines[12] = '3,"Symptoms:\nfever, cough, pain\nnausea, fatigue, chills\nall",n\n', "3,fine,n\n"
    assert len(read("age,remark,outcome\n" + "".join(lines), source=None, leave_out=leave_out).labels) == 20


def test_a_few_other_texts_among_numbers_may_mean_a_missing_value():
    text = "x,outcome\n" + "".join(f"{'-' if i % 3 == 0 else i},{'yn'[i % 2]}\n" for i in range(40))
    (line,) = read(text, source=None).remarks
    assert "list '-' in `missing` if it means no value" in line
    assert read(text, source=None, missing=["-"], incomplete=["x"]).features.names == ["x"]


def test_names_of_columns_may_have_line_breaks_and_letters_in_another_form():
    text = '"How old\r\nare  you?",re\u0301sultat\r\n30,"a\nb"\r\n40,c\r\n'
    table = read(text, source=None, label="r\u00e9sultat", numbers=["How old\nare you?"])
    assert table.features.names == ["How old are you?"]
    assert table.features.dense(slice(None)).tolist() == [[30], [40]]
    assert (table.label_names, reasons(table)) == (["a\nb", "c"], {})
    assert read("\ufeff\ufeffage,out\u200bcome\n1,a\n2,b\n", source=None).features.names == ["age"]
    columns = {"How  old\n": pa.array([1, 2]), "re\u0301sultat": pa.array(["a", "b"])}
    assert parquet(columns, source=None, label="r\u00e9sultat").features.names == ["How old"]


def test_columns_without_a_name_are_counted():
    with pytest.raises(PrivarmsError, match="columns 3, 4 have no name"):
        read("age,outcome,,\n1,a,,\n2,b,,\n", source=None)


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
        ('"' + MANY, "only a header; expected rows; close its quotes"),
        (MANY.replace("age,outcome", "outcome,outcome"), "several columns named 'outcome'; rename"),
        (MANY.replace("yes", "\0yes"), "NUL bytes"),
        (MANY.replace("17,", "inf,"), r"column age: 79 of 80 values are numbers, but row 9 has 'inf'; list"),
        (MANY.replace("17,", "1e400,"), "row 9 has '1e400'"),
    ],
)
def test_files_that_people_have_reported_elsewhere_are_one_error(text, words):
    with pytest.raises(PrivarmsError, match=words):
        read(text, source=None)


def test_a_byte_order_mark_and_other_ends_of_lines_change_nothing():
    plain = read(MANY, source=None)
    for other in ("\ufeff" + MANY, MANY.replace("\n", "\r\n"), MANY.replace("\n", "\r")):
        table = read(other, source=None)
        assert table.features.names == plain.features.names == ["age"]
        assert (table.label_names, table.labels.tolist()) == (["no", "yes"], plain.labels.tolist())


def test_what_was_left_out_is_one_line(tmp_path):
    text = many().replace(",u,", ",,", 3).replace(",0\n", ",\n", 2)
    facts = prepare(tmp_path, text)
    (line,) = remarks(facts)
    # The first two rows with label 0 are rows 2 and 4; the first three of ward u are rows 2, 5 and 8.
    assert line == "4 of 60 rows left out: 2 for outcome: no value (first row 2), 2 for c: no value (first row 5)"
    assert remarks(prepare(tmp_path, many())) == []
    # The Parquet file and the JSON file have the same facts.
    assert remarks(json.loads((tmp_path / "v.json").read_text())) == []
    assert remarks({"data": "real", "dropped": 2, "rows": 9, "files": {"f": {"rows": 9, "dropped": 2}}}) == [
        "2 of 9 rows left out"
    ]


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
    return own_table.read({"visits.parquet": stream}, own(**description))


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


def test_nan_in_a_parquet_file_is_a_missing_value_in_every_column():
    outcome = pa.array([1.0, 0.0, np.nan, 0.0, 2.0, 1.0, 2.0])
    table = parquet({**COLUMNS, "outcome": outcome}, texts=["outcome"])
    assert table.label_names == ["0", "1", "2"]
    assert reasons(table)["outcome: no value"] == (1, 3)


def test_a_parquet_file_of_another_shape_is_refused():
    with pytest.raises(PrivarmsError, match=r"visits\.parquet: not a complete Parquet file of texts and numbers"):
        parquet({**COLUMNS, "tags": pa.array([["x"]] * 7)})
    with pytest.raises(PrivarmsError, match=r"visits\.parquet: not a complete Parquet file"):
        own_table.read({"visits.parquet": io.BytesIO(b"PAR1 cut")}, own())
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
    with pytest.raises(PrivarmsError, match=r"column ward: 257 different texts, .* `leave_out`, or in `numbers`"):
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
