"""Check the leaderboard: its instances, its blocks, its verdicts and its files."""

import pandas as pd
import pytest

from privarms.audits import verdicts
from privarms.cli import audit_now, leaderboard, new
from privarms.cli.command import main
from tests import ROOT

EXAMPLE = ROOT / "examples/my_bandits"


def test_a_leaderboard_ranks_every_instance_and_is_written(tmp_path, capsys):
    options = ["--horizon", "2000", "--replicates", "4", "--trials", "2000"]
    assert main(["compare", str(EXAMPLE), *options, "--output", str(tmp_path / "board")]) == 0
    rows = pd.read_csv(tmp_path / "board.csv")
    assert (tmp_path / "board.png").stat().st_size > 0
    assert {"private_halving", "dp_se", "dp_ucb"} <= set(rows["policy"])
    assert rows["instance"].nunique() == len(leaderboard.INSTANCES)
    # The file says what was run.
    about = {"environment": "bernoulli", "K": 5, "epsilon": 1, "horizon": 2000, "replicates": 4}
    assert (rows[[*about]] == pd.Series(about)).all(axis=None)
    # Slow policies get fewer trials, and some published audits a multiple of them.
    assert (rows["trials"] >= audit_now.FEWEST).all()
    assert rows["means"].unique()[0] == "0.75 0.7 0.7 0.7 0.7"
    for _, some in rows.groupby("instance"):
        assert some["regret"].is_monotonic_increasing
        assert some["rank"].sum() == len(some) * (len(some) + 1) / 2
        best = some.loc[~some["own"], "regret"].min()
        assert (some["difference"] - (some["regret"] - best)).abs().max() < 1e-6
    printed = capsys.readouterr().out
    assert "private_halving" in printed
    # Every policy has a verdict of its own, and the reader learns what was changed.
    assert set(rows["audit"]) <= set(verdicts.VERDICTS)
    assert rows["audit_note"].str.contains("Other changes were not tried.").all()
    assert (
        "dp_imed, epsilon = 1: no violation shown. Audit first_choice with K = 20, ratio = 256. Only one reward"
        in printed
    )
    assert main(["compare", str(tmp_path)]) == 2


def test_every_epsilon_and_horizon_has_ranks_of_its_own(tmp_path, capsys):
    own = new.write_policy("my_bandit", tmp_path / "mine")
    own.write_text(own.read_text(encoding="utf-8") + '\nPRIVACY = "local"\n', encoding="utf-8")
    options = ["--means", "0.1,0.9,0.5", "--epsilon", "0.1,1", "--horizon", "100,1e3", "--replicates", "4"]
    main(["compare", str(tmp_path / "mine"), *options, "--trials", "100", "--output", str(tmp_path / "board")])
    printed, rows = capsys.readouterr().out, pd.read_csv(tmp_path / "board.csv")
    assert {*zip(rows["K"], rows["means"], rows["instance"], strict=True)} == {(3, "0.1 0.9 0.5", "arms")}
    blocks = rows.groupby(["epsilon", "horizon"])
    assert {*blocks.groups} == {(0.1, 100), (0.1, 1000), (1.0, 100), (1.0, 1000)}
    for (epsilon, horizon), block in blocks:
        assert block["policy"].is_unique
        assert (block["mean_rank"] == block["rank"]).all()
        assert f"epsilon = {epsilon:g}, T = {horizon:,}: mean rank, policy, audit:" in printed
        # Regret at a horizon is that of runs of this length: the worst arm alone would have .8 a round.
        assert block["regret"].between(0, 0.8 * horizon).all()
    assert rows.groupby("epsilon")["audit_note"].nunique().min() > 1
    assert rows.loc[rows["privacy"] == "local", "policy"].unique().tolist() == ["my_bandit"]
    assert "my_bandit (local)" in printed


def test_arms_that_are_not_bernoulli_have_no_lower_bound(tmp_path, capsys):
    own = ["--environment", "beta_rewards", "--set", "top=0.75", "--set", "bottom=0.25", "--K", "3"]
    options = ["--horizon", "200", "--replicates", "2", "--trials", "20", "--output", str(tmp_path / "board")]
    main(["compare", str(EXAMPLE), *own, *options])
    rows = pd.read_csv(tmp_path / "board.csv")
    assert rows["over_bound"].isna().all()
    assert {*rows["means"]} == {"0.75 0.5 0.25"}
    assert {*rows["parameters"]} == {"top=0.75 bottom=0.25"}
    assert "no lower bound, because it holds for Bernoulli arms only" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--means", "0.5,0.5"], "--means: expected arms with different means; found 0.5, 0.5"),
        (["--means", "0.5,1.5"], "--means: expected numbers in [0, 1]; found 0.5, 1.5"),
        (["--means", "0.5,0.2", "--K", "3"], "--means: expected 3 numbers, one per arm; found 2"),
        (["--set", "top=0.5"], "--set: expected --environment too"),
        (["--environment", "bernouli"], "--environment: unknown environment with arms of known means 'bernouli'"),
        (["--environment", "labelled_users"], "expected one of arm_vectors, bernoulli"),
        (["--environment", "bernoulli", "--means", "0.5,0.2"], "--means, --environment: expected one of the two"),
        (["--environment", "beta_rewards", "--set", "top=0.5"], "beta_rewards needs bottom; add --set bottom=VALUE"),
        (["--environment", "beta_rewards", "--set", "top=high", "--set", "bottom=0"], "top: expected a value of type"),
        (["--environment", "symmetric", "--K", "2", "--set", "variant=as_printed"], "unknown environment with arms"),
    ],
)
def test_instances_that_do_not_exist_are_one_line_before_anything_runs(options, words, capsys):
    assert main(["compare", str(EXAMPLE), *options]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1
