"""Check histories of arms and rewards: validation, reductions, reader."""

import gzip
import tracemalloc

import numpy as np
import pytest

from privarms.errors import PrivarmsError
from privarms.inference.histories import History, least_pulled, most_pulled, read_history, read_totals

ARMS, REWARDS = [1, 0, 2, 1, 1], [0.5, 1.0, 0.0, 0.25, 0.0]


def test_a_history_is_reduced_arm_by_arm():
    history = History(np.array(ARMS), np.array(REWARDS), 3)
    assert history.pulls.tolist() == [1, 3, 1]
    assert history.sums.tolist() == [1.0, 0.75, 0.0]


def test_ties_go_to_the_lowest_index():
    assert least_pulled([3, 1, 2, 1, 3]) == 1
    assert most_pulled([2, 3, 1, 3]) == 1
    pulls = np.array([[5, 5, 5], [1, 2, 0], [7, 1, 1], [1, 7, 7]])
    assert least_pulled(pulls).tolist() == [0, 2, 1, 0]
    assert most_pulled(pulls).tolist() == [0, 1, 0, 1]


def test_ties_go_to_the_arm_of_the_largest_number_given():
    pulls = np.array([[5, 5, 9], [1, 2, 1], [7, 7, 7]])
    numbers = np.array([[0.1, 0.4, 0.9], [0.8, 0.9, 0.3], [0.2, 0.5, 0.1]])
    assert least_pulled(pulls, numbers).tolist() == [1, 0, 1]
    assert most_pulled(pulls, numbers).tolist() == [2, 1, 1]


def written(tmp_path, text):
    path = tmp_path / "history.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_file_is_read(tmp_path):
    history = read_history(written(tmp_path, "arm,reward\n1,0.5\n0,1\n1,1e-3\n"))
    assert history.arms.tolist() == [1, 0, 1]
    assert history.rewards.tolist() == [0.5, 1.0, 0.001]
    assert history.K == 2
    assert history.arms.dtype == np.int64
    assert history.rewards.dtype == np.float64


def test_spreadsheets_marks_line_ends_blanks_and_further_columns_do_no_harm(tmp_path):
    path = written(tmp_path, "\ufeffreward, t, arm\r\n0.5,1,1.0\r\n1,2, 0\r\n")
    history = read_history(str(path), K=2)
    assert history.arms.tolist() == [1, 0]
    assert history.rewards.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("text", "K", "message"),
    [
        ("arm,reward\n0,1\n0.5,1\n", None, r"line 3, column arm: expected a whole number from 0 to .*; found '0\.5'"),
        ("arm,reward\n0,1\n2,1\n", 2, "line 3, column arm: expected a whole number from 0 to 1; found '2'"),
        ("arm,reward\n0,1\n0,1.01\n", None, r"line 3, column reward: expected a number in \[0, 1\]; found '1\.01'"),
        ("arm,reward\n0,yes\n", None, "line 2, column reward: .*found 'yes'"),
        ("arm,reward\n0,1\n2,1\n", None, "column arm: .*arm 1 is never pulled"),
        ("action,reward\n0,1\n", None, "line 1: expected one column named arm; found the columns action, reward"),
        ("arm,reward\n0,1,2\n", None, "line 2: found 3 fields"),
        ('"a\nb",arm,reward\n"x\ny",0,1\n"x\ny",0,2\n', None, "line 5, column reward"),
        ("arm,reward\n0,1\n0,\u00fc\n".encode("latin-1"), None, "cannot be read as CSV in UTF-8 after line "),
        (
            gzip.compress(b"arm,reward\n0,1\n", mtime=0),
            None,
            "found a file compressed by gzip; .*; decompress it",
        ),
        ("", None, "is empty"),
    ],
)
def test_a_bad_file_is_named_with_line_and_column(tmp_path, text, K, message):
    for read in (read_history, read_totals):
        with pytest.raises(PrivarmsError, match=rf"history\.csv: .*{message}"):
            read(written(tmp_path, text), K)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PrivarmsError, match="nowhere"):
        read_history(tmp_path / "nowhere.csv")


def test_totals_are_those_of_the_history(tmp_path):
    path = written(tmp_path, "arm,reward\n" + "".join(f"{t % 3},{t / 7 % 1}\n" for t in range(100)))
    history, totals = read_history(path), read_totals(path)
    assert totals.pulls.tolist() == history.pulls.tolist()
    assert totals.sums.tolist() == history.sums.tolist()
    assert (totals.K, totals.T, totals.binary) == (3, 100, False)
    assert read_totals(written(tmp_path, "arm,reward\n0,1\n1,0.0\n")).binary


def test_the_memory_for_totals_does_not_grow_with_the_rounds(tmp_path):
    peaks = []
    for rounds in (1_000, 50_000):
        path = written(tmp_path, "arm,reward\n" + "0,1\n1,0\n" * (rounds // 2))
        tracemalloc.start()
        read_totals(path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # An array of the arms alone would have 400 kB.
    assert peaks[1] < peaks[0] + 100_000
