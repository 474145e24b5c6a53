"""Check the command `privarms`: help of all subcommands, and one-line errors."""

import subprocess
import sys

import pytest

from privarms import command


def test_help_is_quick():
    """Check that the command does not import modules of a single subcommand."""
    code = (
        "import sys, privarms.command as c\n"
        "try: c.main(['--help'])\n"
        "except SystemExit: print(sorted({'numba', 'pandas', 'scipy', 'snakemake'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["correct", "gone.csv", "--epsilon", "1"], "error: gone.csv: no such file; expected a CSV file"),
        (["audit", "laplace", "--trials", "0"], "error: --trials: expected a number >= 1; found 0\n"),
        (["audit", "nobody"], "error: nobody: no policy or mechanism; expected one of "),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, words, message):
    assert command.main(words) == 2
    actual = capsys.readouterr().err
    assert actual.startswith(message)
    assert actual.count("\n") == 1


def test_a_history_is_corrected(tmp_path, capsys):
    file = tmp_path / "history.csv"
    file.write_text("arm,reward\n" + "0,1\n1,0\n" * 20)
    assert command.main(["correct", str(file), "--epsilon", "0.1", "--csv", str(tmp_path / "found.csv")]) == 0
    assert "40 rounds, 2 arms, epsilon = 0.1" in capsys.readouterr().out
    assert (tmp_path / "found.csv").exists()
