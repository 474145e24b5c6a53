"""What the report is told about data: what they are, and how to get those that are missing."""

from privarms.data import sources
from privarms.studies.datasets import Datasets

FILES = [
    {"name": "a.csv", "url": "https://example.org/a.csv", "sha256": "ab" * 32},
    {"name": "b.csv", "by_hand": "log in", "rows": 5000},
]


def described(name, **entry):
    return sources.describe(name, FILES, title="Toys", licence="L", citation="C", **entry)


def test_what_is_missing_is_told_file_by_file_and_what_is_there_needs_nothing():
    of_sources = {"toy": described("toy"), "gone": described("gone", folder="toy")}
    there, gone = Datasets(of_sources, {"toy": "real", "gone": "missing"}).described()
    assert (there["message"], there["files"]) == ("", [])
    assert gone["message"] == sources.missing_message(of_sources["gone"])
    first, second = gone["files"]
    assert first == {"path": "data/raw/toy/a.csv", "mirrored": "toy/a.csv", "url": "https://example.org/a.csv"} | {
        "by_hand": "",
        "sha256": "ab" * 32,
        "rows": 0,
    }
    assert (second["by_hand"], second["rows"], second["sha256"]) == ("log in", 5000, "")
