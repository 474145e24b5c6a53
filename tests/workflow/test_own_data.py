"""Check a user's own data in a study: an entry in the list of sources and a file, without code."""

import json
import os
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from privarms.planning import tiny
from tests import ROOT

from .conftest import change, only

pytestmark = pytest.mark.workflow

ENTRY = {
    "title": "Visits",
    "licence": "private",
    "citation": "Us (2026)",
    "files": [{"name": "visits.csv", "by_hand": "ask the clinics"}],
    "table": {"label": "outcome", "source": {"column": "clinic", "target": "north"}},
}
STUDY = {
    "protocol": "contextual",
    "environment": {"name": "classification", "dataset": "visits"},
    "horizon": 30,
    "replicates": 2,
    "block": 1,
    "checkpoints": {"count": 3, "first": 10},
    "policies": [{"policy": "uniform", "K": 3}, {"policy": "constant", "K": 3, "arm": 1}],
}
RAW, STUDY_FILE = "data/raw/visits/visits.csv", "results/tiny/studies/ma2025/visits.parquet"
SOURCES, STUDIES = "data/sources.yaml", "config/papers/ma2025/studies.yaml"


@pytest.fixture
def project(fresh):
    only(fresh, "ma2025")
    change(fresh, SOURCES, ("visits",), ENTRY)
    change(fresh, STUDIES, ("studies", "visits"), STUDY)
    return fresh


@pytest.mark.long
def test_a_dataset_may_be_in_an_extension(fresh):
    change(only(fresh, "ma2025"), STUDIES, ("studies", "visits"), STUDY)
    fresh.write("clinics/data/sources.yaml", yaml.safe_dump({"visits": ENTRY}))
    fresh.write("clinics/data/raw/visits/visits.csv", visits())
    (fresh.folder / "clinics/policies").mkdir()
    change(fresh, "config/tiny.yaml", ("extensions",), ["clinics"])
    fresh.complete(STUDY_FILE)
    assert pd.read_parquet(fresh.folder / STUDY_FILE)["policy"].nunique() == 2
    # An entry of the same name in both places is refused.
    change(fresh, SOURCES, ("visits",), ENTRY)
    done = fresh.run(STUDY_FILE)
    assert "visits: a dataset of this name exists" in done.stdout + done.stderr


def visits():
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.normal()},{'uvw'[i % 3]},{('north', 'south')[i % 2]},{('worse', 'same', 'better')[i % 3]}"
        for i in range(60)
    ]
    return "age,ward,clinic,outcome\n" + "\n".join(rows) + "\n"


def test_it_is_prepared_and_played_on(project):
    project.write(RAW, visits())
    project.complete(STUDY_FILE)
    facts = json.loads((project.folder / "data/prepared/visits.json").read_text(encoding="utf-8"))
    assert (facts["data"], facts["n_target"], facts["source_sizes"], facts["K"]) == ("real", 30, [30], 3)
    rows = pd.read_parquet(project.folder / STUDY_FILE)
    constant = rows[rows["policy"] == "constant"]
    # Labels are sorted, and each has a third of the rows.
    assert facts["label_names"] == ["better", "same", "worse"]
    assert constant.loc[constant["t"] == 30, "reward"].tolist() == [10, 10]
    # A changed entry prepares the data again.
    change(project, SOURCES, ("visits", "table", "leave_out"), ["ward"])
    planned = project.run("-n", STUDY_FILE)
    assert "prepare_dataset" in planned.stdout, planned.stdout + planned.stderr


def test_a_file_that_is_replaced_by_an_older_one_is_prepared_again(project):
    project.write("mirror/visits/visits.csv", visits().replace(",u,south", ",,south", 2))
    done = project.run(STUDY_FILE, PRIVARMS_MIRROR="mirror")
    assert done.returncode == 0, done.stdout + done.stderr
    # The job says what was left out, and so does the end of the run.
    line = "visits: 2 of 60 rows left out: 2 for ward: no value (first row 5)"
    assert done.stderr.splitlines().count(line) == 2, done.stdout + done.stderr
    # The file was fetched in the first run.
    second = project.run(STUDY_FILE, PRIVARMS_MIRROR="mirror")
    assert "Nothing to be done" in second.stdout + second.stderr
    project.write(RAW, visits() + "0,u,north,better\n")
    os.utime(project.folder / RAW, (1e9, 1e9))
    third = project.run(STUDY_FILE)
    facts = json.loads((project.folder / "data/prepared/visits.json").read_text(encoding="utf-8"))
    assert (facts["n_target"], facts["dropped"]) == (31, 0), third.stdout + third.stderr
    assert "left out: " not in third.stderr


def test_without_its_file_it_is_left_out_and_everything_else_is_planned(project):
    planned = project.run("-n")
    assert planned.returncode == 0, planned.stdout + planned.stderr
    assert "visits: left out. Raw data of visits not found. Provide" in planned.stderr
    assert "visits" not in planned.stdout


def example():
    """Return the entry in the list of sources and the line in the grid that data/README.md shows."""
    text = (ROOT / "data/README.md").read_text(encoding="utf-8").split("## Your own data")[1]
    entry, line = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[:2]
    return yaml.safe_load(entry), yaml.safe_load(line)


def with_example(project, leave_out_source=False):
    entry, grid = example()
    if leave_out_source:
        del entry["visits"]["table"]["source"]
    change(project, SOURCES, ("visits",), entry["visits"])
    for study in ("real_data", "real_data_reference"):
        change(project, STUDIES, ("studies", study, "grid"), grid)
    rng = np.random.default_rng(1)
    rows = [
        f"p{i},{rng.integers(20, 90)},{1000 + i % 5},{('north', 'north', 'south', 'east')[i % 4]},{'yn'[i % 3 == 0]}"
        for i in range(240)
    ]
    project.write(RAW, "\n".join(["patient,age,postcode,clinic,outcome", *rows]) + "\n")


@pytest.mark.long
@pytest.mark.parametrize("leave_out_source", [False, True])
def test_the_example_of_the_manual_gives_table_2(fresh, leave_out_source):
    with_example(only(fresh, "ma2025"), leave_out_source)
    fresh.complete("ma2025_table2")
    # Policies with their own grid are not affected.
    rows = [row for row in fresh.rows("tables/ma2025/table2.csv") if row["dataset"] == "visits"]
    assert {row["data"] for row in rows} == {"real"}
    methods = {(row["method"], row["variant"], row["auxiliary"]) for row in rows}
    named = [("ldp_mab", "as_released"), ("ldp_mab", "as_printed"), ("ldp_linear", ""), ("ldp_nn", "")]
    kinds = ("without",) if leave_out_source else ("with", "without")
    assert methods == {(*one, auxiliary) for one in named for auxiliary in kinds}
    assert len(rows) == 2 * 2 * 4 * (1 if leave_out_source else 2 * 2)
    facts = json.loads((fresh.folder / "data/prepared/visits.json").read_text(encoding="utf-8"))
    assert facts["n_target"] == (240 if leave_out_source else 120)
    # With two arms, random play earns the reward of half of the users, of whom the example has 100.
    users = tiny.fewer(100)
    printed = [row for row in rows if row["variant"] == "as_printed" and row["time"] == "full"]
    reference = pd.read_parquet(fresh.folder / "results/tiny/studies/ma2025/real_data_reference_cells.parquet")
    absse = reference[(reference["policy"] == "absse") & (reference["t"] == users)]["reward_mean"].iloc[0]
    for row in printed:
        assert abs(float(row["ratio"]) * absse - users / 2) < 5.5 * np.sqrt(users) / 2 / np.sqrt(2)
