"""Check that bad input ends a run with one clear error, a non-zero status and no incomplete file."""

import pytest

from .conftest import change, only

pytestmark = pytest.mark.workflow


def refused(project, *arguments, words, **options):
    done = project.run(*arguments, **options)
    assert done.returncode != 0
    # A dry run logs to stdout, other runs to stderr.
    output = done.stdout + done.stderr
    assert [line for line in output.splitlines() if all(word in line for word in words)], output
    assert "Traceback" not in output
    return done


@pytest.fixture
def ma2025(fresh):
    """Return the project with only the paper that uses data."""
    return only(fresh, "ma2025")


ADULT = "data/prepared/adult.parquet"
STUDIES = "config/papers/us2026/studies.yaml"
BUDGETS = ("studies", "budgets")


@pytest.mark.parametrize(
    ("file", "path", "value", "words"),
    [
        (
            STUDIES,
            (*BUDGETS, "grid", 0, "epsilon"),
            0,
            [STUDIES, "studies.budgets.grid[0].epsilon", "above 0", "found 0"],
        ),
        (STUDIES, (*BUDGETS, "horizon"), 3, [STUDIES, "studies.budgets.horizon", "K = 5", "found 3"]),
        (STUDIES, (*BUDGETS, "replicatess"), 3, [STUDIES, "studies.budgets.replicatess", "unknown key"]),
        (STUDIES, (*BUDGETS, "policies", 0), {"policy": "dp_sse"}, [STUDIES, "policies[0].policy", "'dp_sse'"]),
        (STUDIES, (*BUDGETS, "environment", "name"), "bern", [STUDIES, "environment.name", "'bern'", "bernoulli"]),
        (STUDIES, ("readings", 0, "affects"), ["fig7"], [STUDIES, "readings[0].affects", "'fig7'", "fig1"]),
        (STUDIES, ("readings", 0, "tried"), ["of_none"], [STUDIES, "readings[0].tried", "'of_none'"]),
        ("config/config.yaml", ("sed",), 1, ["config/config.yaml", "sed", "unknown key", "seed"]),
        ("config/tiny.yaml", ("scale",), "huge", ["scale", "expected one of tiny, quick, paper; found 'huge'"]),
        ("data/sources.yaml", ("adult", "licens"), "x", ["data/sources.yaml", "adult.licens", "unknown key"]),
    ],
)
def test_a_wrong_configuration_is_one_clear_error(small, file, path, value, words):
    change(small, file, path, value)
    refused(small, "-n", words=words)
    assert not (small.folder / "results").exists()


def test_an_unknown_key_on_the_command_line_is_refused(small):
    refused(small, "-n", "sede=3", words=["sede", "unknown key", "seed"])


ADDED = "add: {us2026: {budgets: [{policy: dp_se, %s}]}}\n"


def planned(project, text, *options):
    """Plan a run with a configuration file of the user's own."""
    project.write("my.yaml", text)
    return project.run("-n", *options, configfiles=["my.yaml"])


def test_a_key_that_a_configuration_file_gives_twice_is_refused(small):
    done = planned(small, ADDED % "beta: 0.01" + "seed: 3\n" + ADDED % "beta: 0.02")
    assert done.returncode != 0
    assert "my.yaml: cannot be read: duplicate key 'add' in line 3" in done.stdout + done.stderr


def test_numbers_of_a_configuration_file_and_of_options_are_those_of_studies(small):
    done = planned(small, ADDED % "beta: 1e-2" + "audit_trials: 1e3\n", "seed=1e3")
    assert done.returncode == 0, done.stdout + done.stderr
    nested = "add={us2026: {budgets: [{policy: dp_se, beta: 0.02}]}}"
    done = planned(small, "shard_seconds: 1e1\n", nested)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_a_fault_that_a_job_finds_names_the_file_in_use(small):
    change(small, STUDIES, (*BUDGETS, "environment", "top"), 1.5)
    words = ["error: us2026/studies.yaml: studies.budgets: environment uniform_rewards: ", "1.5"]
    refused(small, "results/tiny/studies/us2026/budgets.parquet", words=words)


def test_a_raw_file_with_the_wrong_checksum_is_refused_and_nothing_is_prepared(ma2025):
    for name in ("adult.data", "adult.test"):
        ma2025.write(f"data/raw/adult/{name}", "39, State-gov\n")
    words = ["data/raw/adult/adult.data", "expected SHA-256", "found", "delete it"]
    refused(ma2025, ADULT, scale="quick", words=words)
    assert not list((ma2025.folder / "data").rglob("adult*.parquet"))
    assert (ma2025.folder / "data/raw/adult/adult.data").exists(), "a file that the user put there is the user's"


@pytest.mark.long
def test_a_truncated_file_of_a_mirror_is_refused_and_not_kept(ma2025):
    for name in ("adult.data", "adult.test"):
        ma2025.write(f"mirror/adult/{name}", "39, State-gov, 775")
    done = refused(ma2025, ADULT, "mirror=mirror", scale="quick", words=["expected SHA-256", "mirror/adult/adult."])
    assert "ma2025" not in done.stdout
    assert not [p for p in (ma2025.folder / "data").rglob("*adult*") if p.is_file()]


def test_a_mirror_that_is_not_there_is_refused(small):
    refused(small, "-n", "mirror=/no/such/folder", words=["mirror", "/no/such/folder"])
    refused(small, "-n", words=["mirror", "/no/such/folder"], PRIVARMS_MIRROR="/no/such/folder")


@pytest.mark.long
def test_at_paper_scale_missing_data_drop_their_cells_and_nothing_else(ma2025):
    planned = ma2025.run("-n", scale="paper")
    assert planned.returncode == 0, planned.stderr
    assert "adult_sensitivity" not in planned.stdout + planned.stderr
    # Statements about the first artifact need data, those about the second only formulas.
    verdicts = [f"results/paper/cases/ma2025/{artifact}.csv" for artifact in ("table2", "fig5")]
    done = ma2025.run(*verdicts, scale="paper")
    assert done.returncode == 0, done.stderr
    output = [line for line in done.stderr.splitlines() if line.startswith("adult, ") and ": left out." in line]
    assert len(output) == 2, "at the start and at the end"
    for words in ("data/raw/adult/adult.data", "SHA-256", "PRIVARMS_MIRROR"):
        assert words in output[0]
    of_data, of_formulas = (ma2025.rows(f"cases/ma2025/{artifact}.csv", "paper") for artifact in ("table2", "fig5"))
    of_adult = [row for row in of_data if "adult" in row["why"]]
    assert len(of_adult) > 5
    assert all((row["verdict"], row["measured"]) == ("unverifiable", "") for row in of_adult)
    assert of_formulas
    assert all(row["measured"] for row in of_formulas)


@pytest.mark.long
def test_at_paper_scale_a_missing_dataset_s_artifact_asked_for_by_name_is_an_error(ma2025):
    for artifact in ("adult_sensitivity", "table1"):
        words = [f"ma2025_{artifact}", "data/raw/adult/adult.data", "SHA-256"]
        done = ma2025.run("-n", f"ma2025_{artifact}", scale="paper")
        assert done.returncode != 0
        assert [line for line in done.stdout.splitlines() if all(word in line for word in words)], done.stdout
