"""Check that `privarms check` accepts the example and reports each fault in one line."""

import shutil
from pathlib import Path

import numba
import pytest

from privarms.cli import command
from privarms.registry import extensions, library
from tests import ROOT

EXAMPLE = ROOT / "examples/my_bandits"
POLICY, ENVIRONMENT = "policies/bandit/private_halving.py", "environments/beta_rewards.py"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (POLICY, "", "", "ok      smooth: private_halving on beta_rewards"),
        (POLICY, "return state.arm", "return state.arm + 1", "ArmError: choose returned arm"),
        (POLICY, "context, t, rng)", "t, rng)", "; found choose(params, state, t, rng)"),
        (ENVIRONMENT, "bottom, K)", "bottom, 2)", "beta_rewards has K = 2, but the policy private_halving has 4"),
    ],
)
def test_the_example_passes_and_a_broken_one_is_one_line(tmp_path, monkeypatch, capsys, file, old, new, message):
    monkeypatch.setenv(extensions.VARIABLE, "")
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / f"tried_{abs(hash(message)) % 10**6}"))
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    # In plain Python the faults are the same, and less is compiled.
    (folder / file).write_text(text.replace("@njit\n", "").replace(old, new, 1) if old else text, encoding="utf-8")
    library._modules.cache_clear()
    status = command.main(["check", str(folder)])
    lines = capsys.readouterr().out.splitlines()
    assert status == bool(old)
    assert any(message in line for line in lines), lines
    assert lines[-1] == "nothing failed" or lines[-1].endswith(" failed")
