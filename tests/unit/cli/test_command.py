"""Check the command `privarms`: help of all subcommands, and one-line errors."""

import subprocess
import sys

import pytest

from privarms.cli import command


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
        (["compare", "none", "--horizon", "4"], "error: --horizon: expected a whole number from 5 "),
        (["compare", "none", "--horizon", "1e30"], "error: --horizon: expected a whole number from 5 "),
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
        (["new", "policy", "a" * 300], "error: my_bandits/policies/bandit/aaa"),
        (["new", "policy", "laplace"], "error: laplace: a policy or mechanism has this name"),
        (["audit", "nobody"], "error: nobody: no policy or mechanism; expected one of "),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    assert command.main(words) == 2
    actual = capsys.readouterr().err
    assert actual.startswith(message)
    assert actual.count("\n") == 1


@pytest.mark.parametrize("name", [".", ""])
def test_a_table_needs_a_file_name(tmp_path, capsys, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "history.csv").write_text("arm,reward\n" + "0,1\n1,0\n" * 20, encoding="utf-8")
    assert command.main(["correct", "history.csv", "--epsilon", "1e-1", "--csv", name]) == 2
    assert "expected the name of a file" in capsys.readouterr().err


def test_a_history_is_corrected(tmp_path, capsys):
    file = tmp_path / "history.csv"
    file.write_text("arm,reward\n" + "0,1\n1,0\n" * 20)
    assert command.main(["correct", str(file), "--epsilon", "0.1", "--csv", str(tmp_path / "found.csv")]) == 0
    assert "40 rounds, 2 arms, epsilon = 0.1" in capsys.readouterr().out
    assert (tmp_path / "found.csv").exists()
