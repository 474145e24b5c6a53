"""`privarms check` passes the example, and fails each of its broken twins for what is broken."""

import re
import shutil
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from privarms import check, command
from privarms.studies import library, source_faults, strangers

EXAMPLE = Path(__file__).parents[2] / "examples/my_bandits"
POLICY = "policies/bandit/private_halving.py"


@pytest.fixture
def found(tmp_path, monkeypatch, capsys):
    """found(*(file, old, new)): what is said of a copy of the example with these edits, and the exit status."""
    monkeypatch.setenv(library.EXTENSIONS_VARIABLE, "")
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    monkeypatch.setattr(strangers, "_seen", {})
    monkeypatch.setattr(strangers, "_looked_at", {})

    def run(*edits):
        folder = tmp_path / f"tried_{len(list(tmp_path.iterdir()))}"
        shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
        for file, old, new in edits:
            text = (folder / file).read_text(encoding="utf-8")
            assert old in text
            (folder / file).write_text(text.replace(old, new), encoding="utf-8")
        status = command.main(["check", str(folder)])
        return capsys.readouterr().out.splitlines(), status

    yield run
    for name in [n for n in sys.modules if n.startswith(library.EXTENSIONS)]:
        del sys.modules[name]
    for read in (library._modules, library.tree, library._literals, library._sources, source_faults._faults):
        read.cache_clear()


def judged(lines):
    """what -> ok, FAILED or - , of the example's policy."""
    rows = [line.split(":") for line in lines if "private_halving:" in line]
    return {row[1].strip(): row[0].split()[0] for row in rows}


def test_the_example_passes(found):
    lines, status = found()
    assert status == 0, lines
    whats = ("contract", "same bytes twice", "compiled once", "cost", "fast path on bernoulli", "privacy")
    verdicts = judged(lines)
    # What a run takes depends on how busy the machine is.
    assert {what: verdicts[what] for what in whats if what != "cost"} == dict.fromkeys(set(whats) - {"cost"}, "ok")
    assert any("beta_rewards: means" in line and line.startswith("ok") for line in lines)


def test_broken_twins_fail(found):
    lines, status = found(
        # Half of the noise, in the fast path too; and a fast path that starts with a longer phase.
        (POLICY, "laplace(1 / params.epsilon, rng)", "laplace(0.3 / params.epsilon, rng)"),
        (POLICY, "t, checkpoint, phase = 0, 0, 0", "t, checkpoint, phase = 0, 0, 1"),
        ("environments/beta_rewards.py", "environment.size - a)", "environment.size - 0.8 * a)"),
    )
    assert status == 1
    verdicts = judged(lines)
    assert verdicts["privacy"] == verdicts["fast path on bernoulli"] == "FAILED"
    assert verdicts["same bytes twice"] == "ok"
    assert any("beta_rewards: means" in line and line.startswith("FAILED") for line in lines)


def test_values_that_compile_anew_and_parameters_that_differ_fail(found):
    anew = (POLICY, "float(epsilon), int(first)", "epsilon, int(first)")
    lines, status = found(anew)
    assert status == 1
    assert judged(lines)["compiled once"] == "FAILED"
    lines, status = found(
        (POLICY, "import numpy as np\n", "import numpy as np\n\nCALLS = []\n"),
        (POLICY, "    return Params(int(K)", "    CALLS.append(1)\n    return Params(int(K)"),
        (POLICY, "int(first))", "int(first) + len(CALLS))"),
    )
    assert status == 1
    assert any("configure gives another params.first for the same values" in line for line in lines), lines


@pytest.mark.parametrize("family", ["contextual", "experiment", "linear", "stopping", "locally_private"])
def test_other_families_have_a_cell_of_a_study_of_ours(family, tmp_path, monkeypatch):
    monkeypatch.setenv(library.EXTENSIONS_VARIABLE, "")
    ours = {"contextual": "absse", "experiment": "dp_conse", "linear": "oful", "stopping": "dp_nas"}
    (cell,) = check._borrowed(ours.get(family, "ldp_linear"))[:1]
    assert library.attributes("protocols", cell.protocol)["FAMILY"] == family
    assert cell.policy in ours.values() or family == "locally_private"
    assert bool(check._prepared(cell)) is (family == "contextual")


def test_samples_are_told_apart_by_key():
    columns = {"replicate": np.arange(4), "t": np.array([1, 1, 9, 9]), "regret": np.array([1.0, np.nan, 3, 4 + 1e-9])}
    by_key = check._by_key(columns, ("t", "arm"))
    assert list(by_key) == [(1, "regret"), (9, "regret")]
    assert by_key[9, "regret"].tolist() == [3, 4]
    assert by_key[1, "regret"].tolist() == [1, -1e300]


def test_a_contract_that_is_broken_is_one_line(found):
    lines, status = found((POLICY, "def choose(params, state, context, t, rng)", "def choose(params, state, t, rng)"))
    assert status == 1
    (said,) = [line for line in lines if line.startswith("FAILED")]
    assert re.search(r"private_halving.py:\d+ does not fit", said)
    assert "found choose(params, state, t, rng)" in said


def test_whatever_a_module_raises_is_one_line_and_the_others_are_looked_at(found, monkeypatch):
    def raises(name, cells):
        yield check.Found(name, "contract", True, "fits")
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(check, "_of_policy", raises)
    lines, status = found()
    assert status == 1
    (said,) = [line for line in lines if line.startswith("FAILED")]
    assert re.search(r"private_halving.py: ZeroDivisionError: division by zero; `NUMBA_DISABLE_JIT=1 ", said)
    assert lines[-1] == "1 failed"
    assert any("beta_rewards: means" in line for line in lines)
