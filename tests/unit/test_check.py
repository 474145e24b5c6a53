"""Check that `privarms check` accepts the example and reports each fault in one line."""

import shutil
from pathlib import Path

import numba
import pytest

from privarms import command
from privarms.studies import extensions, library

EXAMPLE = Path(__file__).parents[2] / "examples/my_bandits"
POLICY = "policies/bandit/private_halving.py"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", "ok      smooth: private_halving on beta_rewards"),
        ("return state.arm", "return state.arm + 1", "ArmError: choose returned arm"),
        ("context, t, rng)", "t, rng)", "; found choose(params, state, t, rng)"),
    ],
)
def test_the_example_passes_and_a_broken_one_is_one_line(tmp_path, monkeypatch, capsys, old, new, message):
    monkeypatch.setenv(extensions.VARIABLE, "")
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / f"tried_{abs(hash(message)) % 10**6}"))
    text = (folder / POLICY).read_text(encoding="utf-8")
    assert old in text
    # In plain Python the faults are the same, and nothing is compiled.
    (folder / POLICY).write_text(text.replace("@njit\n", "").replace(old, new, 1) if old else text, encoding="utf-8")
    library._modules.cache_clear()
    status = command.main(["check", str(folder)])
    lines = capsys.readouterr().out.splitlines()
    assert status == bool(old)
    assert any(message in line for line in lines), lines
    assert lines[-1] == "nothing failed" or lines[-1].endswith(" failed")


def test_an_environment_with_other_arms_than_the_policy_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(extensions.VARIABLE, "")
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "two_arms"))
    file = folder / "environments/beta_rewards.py"
    text = file.read_text(encoding="utf-8").replace("@njit\n", "")
    file.write_text(text.replace("np.linspace(top, bottom, K)", "np.linspace(top, bottom, 2)"), encoding="utf-8")
    library._modules.cache_clear()
    assert command.main(["check", str(folder)]) == 1
    assert "beta_rewards has K = 2, but the policy private_halving has 4" in capsys.readouterr().out
