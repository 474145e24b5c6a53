"""Check that parameters and records cannot overwrite each other's columns, before and while a study runs."""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from privarms.cli import interactive
from privarms.errors import PrivarmsError
from privarms.execution import aggregate, result_columns, run
from privarms.execution.cell import Piece
from privarms.files import parquet
from privarms.planning.cells import expand
from privarms.planning.studies import Study
from privarms.registry import extensions, library
from privarms.registry.arguments import Argument
from privarms.registry.modules import PolicyModule, ProtocolModule
from tests import ROOT

POLICY = '''"""A uniform policy with a parameter."""

import numpy as np

FAMILY = "bandit"
LABEL = "uniform"


def configure(K: int, NAME: float = 1.0):
    return K


def init(params):
    return 0


def choose(params, state, context, t, rng):
    return int(rng.integers(params))


def learn(params, state, context, arm, reward, t, rng):
    return state
'''
PROTOCOL = '''"""A protocol that runs nothing."""

import numpy as np

FAMILY = "bandit"
NEEDS_HORIZON = True
KEYS = ()
COLUMNS_LINE


def run_block(policy, params, environment, cell, replicates, environment_rng, policy_rng):
    return {"replicate": np.arange(replicates), WRITTEN}
'''
NUMBERS = itertools.count()
STUDY = {
    "protocol": "bandit",
    "environment": {"name": "bernoulli", "K": 2, "top": 0.75, "bottom": 0.25},
    "policies": [{"policy": "toy"}],
    "horizon": 10,
    "replicates": 2,
    "block": 2,
}
# Run the shortest cell of every protocol and record of the plan, and print the columns of its rows.
WRITTEN = """
import json
from dataclasses import replace

from privarms.files import settings
from privarms.registry.modules import ProtocolModule
from privarms.execution import run
from privarms.planning import start
from privarms.planning.cells import expand
from privarms.planning.studies import Study
from privarms.execution.cell import Piece

config = {**settings.read("config/config.yaml"), "scale": "quick", "mirror": None}
of_studies = start.make_plan(config, main=False).simulation.cells.values()
changing = {
    "protocol": "changing_arms",
    "environment": {"name": "changing_bernoulli", "K": 2, "top": 0.75, "bottom": 0.25, "period": 5},
    "policies": [{"policy": "ucb1"}],
    **{"horizon": 10, "replicates": 1, "block": 1},
}
every = [cell for some in of_studies for cell in some if not cell.dataset]
every += expand("f.yaml", "p2020", "s", Study.model_validate(changing))
cells = {}
for cell in sorted(every, key=lambda cell: cell.horizon or 0):
    cells.setdefault((cell.protocol, ProtocolModule(cell.protocol).record(cell.record)), cell)
for (protocol, _), cell in list(cells.items()):
    for record in ProtocolModule(protocol).columns:
        cells.setdefault((protocol, record), replace(cell, record=record))
short = {key: replace(cell, replicates=1, block=1) for key, cell in cells.items()}
rows = {key: run.run_piece(Piece(cell, 0, 1), 1, {}).column_names for key, cell in short.items()}
print(json.dumps([[*key, sorted({*names} - {"cell", "replicate"})] for key, names in rows.items()]))
"""


@pytest.fixture
def extension(tmp_path, monkeypatch):
    """Return a function that makes an extension with the policy `toy` and the protocol `made_up`."""
    monkeypatch.setenv(extensions.VARIABLE, "")

    def make(name="speed", declared="", written='"speed": np.ones(replicates)'):
        # Python imports a folder of the same name only once.
        folder = tmp_path / f"mine_{next(NUMBERS)}"
        (folder / "policies/bandit").mkdir(parents=True)
        (folder / "policies/bandit/toy.py").write_text(POLICY.replace("NAME", name))
        (folder / "protocols").mkdir()
        protocol = PROTOCOL.replace("COLUMNS_LINE", declared).replace("WRITTEN", written)
        (folder / "protocols/made_up.py").write_text(protocol)
        extensions.extend([folder])
        return folder

    return make


def expanded(**study):
    return expand("f.yaml", "p2020", "s", Study.model_validate(STUDY | study))


@pytest.mark.parametrize("name", ["regret", "t", "arm", "panels", "study", "tag"])
def test_a_parameter_with_the_name_of_a_column_of_every_study_is_refused(extension, name):
    extension(name)
    with pytest.raises(PrivarmsError, match=rf"toy\.py: the parameter name '{name}' clashes"):
        expanded()


@pytest.mark.parametrize("name", ["pulls", "pulls_mean", "reward_sum_missing"])
@pytest.mark.parametrize("key", ["policies", "grid"])
def test_a_parameter_with_the_name_of_a_recorded_column_is_refused_before_anything_runs(extension, name, key):
    extension(name)
    ways = {"policies": [{"policy": "ucb1"}, {"policy": "toy", name: 2.0}], "grid": {name: [1, 2]}}
    chosen = {key: ways[key]}
    # The record `regret` has no such column, and a parameter that is not set has none either.
    assert expanded(**chosen)
    assert expanded(record="arms")
    with pytest.raises(PrivarmsError, match=rf"^f\.yaml: studies\.s.*\.{name}: .*record arms") as caught:
        expanded(record="arms", **chosen)
    assert "\n" not in str(caught.value)


def test_a_parameter_does_not_overwrite_a_column_of_the_table_of_a_study(extension):
    extension("low")
    with pytest.raises(PrivarmsError, match="'low' has the name of a column"):
        expanded(grid={"low": [0.1, 0.2]})


def test_a_parameter_of_one_policy_does_not_overwrite_the_record_of_another(extension):
    extension("pulls")
    with pytest.raises(PrivarmsError, match="'pulls' has the name of a column"):
        expanded(policies=[{"policy": "toy", "pulls": 2.0}, {"policy": "ucb1", "record": "arms"}])


def test_half_a_radius_does_not_overwrite_the_recorded_radius(monkeypatch):
    """A parameter `radius` of LDPMAB, in a study of partitions."""
    takes = PolicyModule("ldp_mab").arguments | {"radius": Argument(False, ("halved",))}
    monkeypatch.setattr(PolicyModule, "arguments", takes)
    environment = {"name": "symmetric", "variant": "as_printed"}
    study = STUDY | {"protocol": "locally_private", "environment": environment, "record": "partition", "replicates": 1}
    policy = {"policy": "ldp_mab", "radius": "halved"}
    grid = {"K": 2, "c": 2, "epsilon": 1, "n_aux": 0, "M": 0}
    study = Study.model_validate(study | {"policies": [policy], "grid": grid})
    with pytest.raises(PrivarmsError, match=r"policies\[0\]\.radius: .*record partition"):
        expand("f.yaml", "p2020", "s", study)


def test_the_columns_of_every_record_are_those_declared():
    # Compiling every protocol takes two minutes, and running one cell of each in plain Python seconds.
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT / "workflow")}
    output = subprocess.check_output([sys.executable, "-c", WRITTEN], cwd=ROOT, env=plain, text=True)
    written = {(protocol, record): set(names) for protocol, record, names in json.loads(output)}
    declared = {
        (protocol, record): set(names)
        for protocol in library.names("protocols")
        for record, names in ProtocolModule(protocol).columns.items()
    }
    # tests/unit/protocols/test_contextual.py checks the one that needs data.
    del declared["contextual", None]
    assert written == declared


@pytest.mark.parametrize("declared", ["", 'COLUMNS = {None: ("speed",)}'])
def test_a_column_of_an_extensions_protocol_does_not_overwrite_a_parameter(extension, tmp_path, declared):
    extension(declared=declared)
    study = {"protocol": "made_up", "policies": [{"policy": "toy", "speed": 2.0}]}
    if declared:
        with pytest.raises(PrivarmsError, match=r"policies\[0\]\.speed: the parameter 'speed' has the name"):
            expanded(**study)
        return
    (cell,) = expanded(**study)
    path = tmp_path / "shard.parquet"
    with pytest.raises(PrivarmsError, match=r"p2020/studies\.yaml: studies\.s: .* 'speed' has the name of a column"):
        parquet.write(path, run.run_shard([Piece(cell, 0, 1)], 1, {}), {})
    assert list(tmp_path.glob("*shard*")) == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"policy": np.ones(replicates)', "have the name 'policy'"),
        ('"a": np.ones(replicates), "a_mean": np.ones(replicates)', "have the name 'a_mean'"),
        ('"speed_mean": np.ones(replicates)', None),
    ],
)
def test_columns_of_an_extensions_protocol_do_not_overwrite_each_other(extension, written, expected):
    extension(written=written)
    (cell,) = expanded(protocol="made_up")
    if expected is None:
        assert run.run_piece(Piece(cell, 0, 1), 1, {}).num_rows == 2
        return
    with pytest.raises(PrivarmsError, match=expected):
        run.try_out(cell, 1, {})
    with pytest.raises(PrivarmsError, match=expected):
        run.run_piece(Piece(cell, 0, 1), 1, {})


def test_a_protocol_without_keys_is_refused_before_anything_runs(extension):
    file = extension() / "protocols/made_up.py"
    file.write_text(file.read_text().replace("KEYS = ()\n", ""))
    with pytest.raises(PrivarmsError, match=r"protocols/made_up\.py: expected KEYS, .*; found none"):
        expanded(protocol="made_up")


def test_a_record_that_differs_from_its_declaration_is_an_error(extension):
    extension(declared='COLUMNS = {None: ("height",)}', name="width")
    (cell,) = expanded(protocol="made_up")
    with pytest.raises(PrivarmsError, match=r"made_up writes the columns speed\. Expected .* height"):
        run.run_piece(Piece(cell, 0, 1), 1, {})


def test_python_users_get_the_same_error(extension):
    folder = extension("regret_mean")
    with pytest.raises(PrivarmsError, match="'regret_mean' has the name of a column"):
        interactive.simulate("toy", horizon=10, replicates=1, extension=folder, regret_mean=2)


def test_the_summary_has_the_columns_that_are_kept_free():
    groups = aggregate.group(np.arange(3), {})
    summary = aggregate.summarise((), groups, [("regret", np.arange(3.0))])
    for name in set(summary) - {"replicates"}:
        with pytest.raises(PrivarmsError, match=f"'{name}' has the name of a column"):
            result_columns.refuse_parameters({name: "f.yaml"}, ProtocolModule("bandit"), "regret")
