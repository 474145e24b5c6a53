"""Check the command `privarms`: help of all subcommands, and one-line errors."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from privarms import __version__
from privarms.cli import command
from tests import ROOT


def test_help_is_quick():
    """Check that the command does not import modules of a single subcommand."""
    code = (
        "import sys, privarms.cli.command as c\n"
        "try: c.main(['--help'])\n"
        "except SystemExit: print(sorted({'numba', 'pandas', 'scipy', 'snakemake'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["correct", "gone.csv", "--epsilon", "1"], "error: gone.csv: no such file; expected a CSV file"),
        (["audit", "laplace", "--trials", "0"], "error: --trials: expected a whole number from 1 "),
        (["audit", "laplace", "--trials", "2.5"], "error: --trials: expected a whole number from 1 "),
        (["compare", "none", "--horizon", "1"], "error: --horizon: expected a whole number from 2 "),
        (["compare", "none", "--horizon", "10,1e30"], "error: --horizon: expected a whole number from 2 "),
        (["compare", "none", "--epsilon", "1,0"], "error: --epsilon: expected a finite number above 0; found '0'"),
        (["compare", "none", "--means", "0.5,x"], "error: --means: expected a finite number; found 'x'"),
        (["compare", "none", "--set", "top"], "error: --set: expected NAME=VALUE; found 'top'"),
        (["compare", "none", "--horizon", "1e3"], "error: extensions: none: expected a folder"),
        *(
            (
                ["compare", "none", "--epsilon", text],
                f"error: --epsilon: expected a finite number above 0; found {text!r}",
            )
            for text in ("0", "-1", "nan", "inf", ".nan", "1e999", "many", "")
        ),
        (
            ["correct", "x.csv", "--epsilon", "1", "--level", "nan"],
            "error: --level: expected a finite number between 0 ",
        ),
        (["check", "a" * 300], "error: "),
        (["check", "gone"], "error: extensions: gone: expected a folder"),
        (["check", "file"], "error: extensions: file: expected a folder"),
        *(
            (
                ["new", "policy", name],
                f"error: NAME: expected a name of lower-case letters, digits and _, at most 60 {rest}",
            )
            for name in ("a" * 300, "a" * 61, "my-bandit", "My_bandit", "my bandit", "1st", "_own", "", "class", "a/b")
            for rest in ("characters and no word of Python; found ",)
        ),
        *(
            (["new", "policy", "mine", "--folder", name], f"error: --folder: {name}: expected a name of lower-case")
            for name in ("My-Bandits", "with blank", "2bandits", "new/My", "/")
        ),
        (["new", "policy", "dp_se"], "error: dp_se: a policy or mechanism has this name"),
        (
            ["new", "policy", "there", "--folder", "own"],
            "error: own/policies/linear/there.py: this file exists already",
        ),
        (["new", "policy", "mine", "--folder", "file"], "error: file"),
        (["new", "policy", "laplace"], "error: laplace: a policy or mechanism has this name"),
        (["audit", "nobody"], "error: nobody: no policy or mechanism; expected one of "),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "own/policies/linear").mkdir(parents=True)
    (tmp_path / "own/policies/linear/there.py").write_text("")
    assert command.main(words) == 2
    assert sorted(file.name for file in tmp_path.rglob("*.py")) == ["there.py"]
    actual = capsys.readouterr().err
    assert actual.startswith(message)
    assert actual.count("\n") == 1


HISTORY = "arm,reward\n" + "0,1\n1,0\n" * 20
# Python's output is buffered, as it is for users.
PLAIN = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"} | {"PYTHONPATH": str(ROOT / "workflow")}


def started(*words, **options):
    """Return the finished process of `python -m privarms`."""
    command = [sys.executable, "-m", "privarms", *words]
    return subprocess.run(command, env=PLAIN, stderr=subprocess.PIPE, text=True, timeout=120, **options)


def test_python_starts_the_command_and_prints_its_version():
    done = started("--version", stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    name, version, *_ = done.stdout.split()
    assert (name, version.rstrip(",")) == ("privarms", __version__)


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="no such system")
def test_a_history_may_come_from_a_pipe(tmp_path):
    file = tmp_path / "history.csv"
    file.write_text(HISTORY)
    expected = started("correct", str(file), "--epsilon", "0.1", stdout=subprocess.PIPE).stdout
    assert "40 rounds" in expected
    for name in ("-", "/dev/stdin"):
        written = ("--csv", str(file))
        done = started("correct", name, "--epsilon", "0.1", *written, stdout=subprocess.PIPE, input=HISTORY)
        assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    assert file.read_text().startswith("arm,pulls,mean")
    done = started("correct", "-", "--epsilon", "0.1", stdout=subprocess.PIPE, input=HISTORY + "0,2\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: standard input: line 42, column reward: expected")


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("audit",)])
def test_an_output_that_nobody_reads_is_no_error(words):
    read, write = os.pipe()
    os.close(read)
    try:
        done = started(*words, stdout=write)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such system")
def test_an_output_on_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = started("audit", stdout=full)
    assert (done.returncode, done.stderr) == (2, "error: output: No space left on device\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_with_one_line(tmp_path, capsys, number):
    pipe = tmp_path / "history"
    os.mkfifo(pipe)
    before = signal.getsignal(number)
    timer = threading.Timer(1, signal.pthread_kill, (threading.get_ident(), number))
    timer.start()
    try:
        # It waits for somebody who writes.
        assert command.main(["correct", str(pipe), "--epsilon", "1"]) == 128 + number
    finally:
        timer.cancel()
    assert capsys.readouterr().err == "interrupted\n"
    assert signal.getsignal(number) is before


def test_ctrl_c_during_an_import_ends_with_status_130(tmp_path, capsys):
    folder = tmp_path / "my_interrupted"
    (folder / "policies/bandit").mkdir(parents=True)
    # As extension modules do, in which the interruption becomes an error of their initialisation.
    code = """\
import signal
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    raise SystemError("initialization failed")
"""
    (folder / "policies/bandit/interrupted.py").write_text(code)
    assert command.main(["audit", "interrupted", "--extension", str(folder)]) == 130
    assert capsys.readouterr().err.endswith("interrupted\n")


@pytest.mark.parametrize("name", [".", ""])
def test_a_table_needs_a_file_name(tmp_path, capsys, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "history.csv").write_text(HISTORY)
    assert command.main(["correct", "history.csv", "--epsilon", "1e-1", "--csv", name]) == 2
    assert "expected the name of a file" in capsys.readouterr().err


def test_a_table_is_not_written_over_its_history(tmp_path, capsys):
    file, link = tmp_path / "history.csv", tmp_path / "link.csv"
    file.write_text(HISTORY)
    link.symlink_to(file)
    for history in (file, link):
        assert command.main(["correct", str(history), "--epsilon", "0.1", "--csv", str(file)]) == 2
        assert capsys.readouterr().err == f"error: --csv: {file} is the history; name another file\n"
    assert file.read_text() == HISTORY


def test_a_history_is_corrected(tmp_path, capsys):
    file = tmp_path / "history.csv"
    file.write_text(HISTORY)
    assert command.main(["correct", str(file), "--epsilon", "0.1", "--csv", str(tmp_path / "found.csv")]) == 0
    assert "40 rounds, 2 arms, epsilon = 0.1" in capsys.readouterr().out
    assert (tmp_path / "found.csv").exists()
