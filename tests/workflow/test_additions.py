"""Check that additions appear in figures, tables and reports, and change no published result."""

import json
import re
from pathlib import Path

import pytest
import yaml

from privarms.planning import grids
from privarms.registry import library, modules, source_files
from privarms.registry.modules import EnvironmentModule, PolicyModule
from tests import ROOT

from .conftest import Project, copied

pytestmark = pytest.mark.workflow

POLICY = """\
from typing import NamedTuple

import numpy as np
from numba import njit

LABEL = "Stranger's greedy"
SECONDS_PER_RUN = 1e-4
SECONDS_PER_STEP = 1e-7

class Params(NamedTuple):
    n_arms: int
    exploration: float

class State(NamedTuple):
    pulls: np.ndarray
    reward_sums: np.ndarray

def configure(K: int, exploration: float) -> Params:
    return Params(int(K), float(exploration))

@njit
def init(params):
    return State(np.zeros(params.n_arms, np.int64), np.zeros(params.n_arms))

@njit
def choose(params, state, context, t, rng):
    if rng.random() < params.exploration:
        return int(rng.random() * params.n_arms)
    # Some arms may never be pulled.
    return np.argmax((state.reward_sums + 0.25) / (state.pulls + 1))

@njit
def learn(params, state, context, arm, reward, t, rng):
    state.pulls[arm] += 1
    state.reward_sums[arm] += reward
    return state
"""

ENVIRONMENT = (ROOT / "examples/my_bandits/environments/beta_rewards.py").read_text(encoding="utf-8")

# Paper, study, axis of its grid or of a policy's grid, value.
VALUES = [
    ("sajed2019", "figure1", "epsilon", 2),
    ("sajed2019", "regret", "epsilon", 2),
    ("sajed2019", "settings", "K", 7),
    ("sajed2019", "minimax", "epsilon", 0.5),
    ("sajed2019", "pulls", "epsilon", 0.5),
    ("sajed2019", "stopping", "epsilon", 2),
    ("sajed2019", "audit", "epsilon", 2),
    ("neel2018", "epsilon_sweep", "epsilon", 3),
    ("neel2018", "adaptive_tests", "epsilon", 0.3),
    ("neel2018", "regret_2", "epsilon", 300),
    ("li2024", "pareto", "epsilon", 4),
    ("li2024", "pareto", "alpha", 0.85),
    ("li2024", "elimination", "epsilon", 4),
    ("li2024", "coverage", "epsilon", 4),
    ("li2024", "audit", "epsilon", 4),
    ("ma2025", "regret", "epsilon", 16),
    ("ma2025", "regret", "epsilon_aux", 16),
    ("ma2025", "regret_symmetric", "epsilon", 16),
    ("ma2025", "deviations", "epsilon", 16),
    ("ma2025", "real_data", "epsilon", 4),
    ("ma2025", "privacy", "epsilon", 16),
]
# Studies of bandits that play round by round.
STUDIES = {
    "sajed2019": ("figure1", "regret"),
    "neel2018": ("experiment_1", "experiment_2", "regret_1", "regret_2", "adaptive_tests"),
}
# Per paper: a policy that gets a parameter with a default, cells with another value, and the module of its
# `configure`.
PARAMETERS = {
    "sajed2019": ("dp_se", "bandit/dp_se"),
    "neel2018": ("private_ucb", "bandit/private_ucb"),
    "li2024": ("dp_conse", "experiment/dp_conse"),
    "ma2025": ("ldp_mab", "locally_private/_ldp_mab_parameters"),
}


def untagged(grid) -> list[dict]:
    """Return the grids of a grid that no statement uses."""
    return [{k: v for k, v in one.items() if k != "tag"} for one in (grid if isinstance(grid, list) else [grid])]


def without_tag(policy: dict) -> dict:
    """Return the entry of a policy that no statement uses."""
    own = {"grid": untagged(policy["grid"])} if "grid" in policy else {}
    return {k: v for k, v in policy.items() if k != "tag"} | own


def with_value(grid, axis: str, value):
    """Return a grid and, if it has the axis, a second grid with the value."""
    grids = grid if isinstance(grid, list) else [grid]
    return [*grids, *(one | {axis: value} for one in untagged(grids) if axis in one)]


def extend(studies: dict, paper: str) -> None:
    """Add all additions to a paper's studies, in place."""
    for _, study, axis, value in (row for row in VALUES if row[0] == paper):
        entry = studies[study]
        before = yaml.safe_dump(entry)
        for one in (entry, *entry["policies"]):
            if "grid" in one:
                one["grid"] = with_value(one["grid"], axis, value)
        added = [
            without_tag(p) | {axis: value, "grid": untagged(p.get("grid", entry.get("grid", {})))}
            for p in entry["policies"]
        ]
        entry["policies"] += [new for new, p in zip(added, list(entry["policies"]), strict=True) if axis in p]
        assert yaml.safe_dump(entry) != before, f"{study} has no axis {axis}"
    for study in STUDIES.get(paper, ()):
        studies[study]["policies"].append({"policy": "strangers_greedy", "exploration": [0, 0.1]})
    if paper in PARAMETERS:
        policy, _ = PARAMETERS[paper]
        for study in studies.values():
            study["policies"] += [
                without_tag(p) | {"strangeness": 0.5} for p in study["policies"] if p["policy"] == policy
            ][:1]


def give_parameter(file: Path) -> None:
    """Add a parameter to a policy, with a default that changes only the cell's random streams."""
    text = file.read_text(encoding="utf-8")
    source, actual = re.subn(r"(?s)(def configure\(.*?),?(\s*\) ->)", r"\1, strangeness: float = 1.0\2", text)
    assert actual == 1, file
    file.write_text(source, encoding="utf-8")


@pytest.fixture(scope="module")
def extended(made, tmp_path_factory) -> Project:
    """Return the complete project with a new policy, environment and grid value in each paper."""
    project = copied(made.folder, tmp_path_factory.mktemp("extended") / "project")
    library = project.folder / "workflow/privarms"
    (library / "policies/bandit/strangers_greedy.py").write_text(POLICY, encoding="utf-8")
    (library / "environments/strangers_arms.py").write_text(ENVIRONMENT, encoding="utf-8")
    for _, module in PARAMETERS.values():
        give_parameter(library / f"policies/{module}.py")
    for file in (project.folder / "config/papers").glob("*/studies.yaml"):
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        # With the rows of tables, because a new value needs a row without a tag.
        rows = grids.filled(content["studies"], file, "tiny")
        content["studies"] = json.loads(json.dumps(rows, default=lambda axes: axes.parameters))
        extend(content["studies"], file.parent.name)
        if file.parent.name == "sajed2019":
            own = {"environment": {"name": "strangers_arms", "top": 0.7, "bottom": 0.3}, "grid": {"K": 3}}
            content["studies"]["strange"] = content["studies"]["figure1"] | own | {"policies": [{"policy": "uniform"}]}
        file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    project.complete()
    return project


def test_no_published_case_changes(made, extended):
    keys = ("statement", "variant", "case")
    before, after = ({tuple(r[k] for k in keys): r for r in p.rows("ledger.csv")} for p in (made, extended))
    assert before.keys() == after.keys()
    compared = ("measured", "se", "runs", "verdict")
    changed = {
        k: [(r[c], after[k][c]) for c in compared]
        for k, r in before.items()
        if [after[k][c] for c in compared] != [r[c] for c in compared]
    }
    assert changed == {}


def test_every_artifact_is_made_and_what_was_added_is_drawn(made, extended):
    def files(project):
        return {
            p.relative_to(project.folder)
            for p in (project.folder / "results/tiny").rglob("*.*")
            if "shards" not in p.parts
        }

    assert files(made) <= files(extended)
    label = "Stranger's greedy"
    assert {r["curve"] for r in extended.rows("figures/sajed2019/fig1a.csv") if label in r["curve"]} == {
        f"{label} (exploration = 0)",
        f"{label} (exploration = 0.1)",
    }
    assert any(r["policy"].startswith("strangers_greedy") for r in extended.rows("tables/sajed2019/regret.csv"))
    assert any(r["policy"].startswith("strangers_greedy") for r in extended.rows("tables/neel2018/bias.csv"))
    assert "16" in {r["epsilon"].removesuffix(".0") for r in extended.rows("figures/ma2025/fig7a.csv")}
    assert "4" in {r["epsilon"].removesuffix(".0") for r in extended.rows("figures/li2024/elimination.csv")}
    assert "4" in {r["epsilon"].removesuffix(".0") for r in extended.rows("tables/ma2025/table2.csv")}


def test_rows_of_published_cells_stay(made, extended):
    for path in (
        "tables/sajed2019/regret.csv",
        "tables/neel2018/bias.csv",
        "tables/li2024/pareto.csv",
        "tables/ma2025/regret.csv",
    ):
        before, after = made.rows(path), extended.rows(path)
        # An added parameter has a separate column after the others.
        columns = list(before[0])
        lost = {tuple(r.values()) for r in before} - {tuple(r[c] for c in columns) for r in after}
        assert lost == set(), path


def is_edited(shard: str) -> bool:
    """Return whether a shard runs code to which a parameter was added."""
    policy = shard.rpartition("-")[0]
    if policy not in library.names("policies"):
        return False
    fast_path = PolicyModule(policy).fast_path("bernoulli")
    audits = [EnvironmentModule(audit).dotted for audit, of in modules.audits().items() if policy in of]
    files = source_files.sources(PolicyModule(policy).dotted, *audits, *([fast_path] if fast_path else []))
    return any(file.endswith(f"{module}.py") for file in files for _, module in PARAMETERS.values())


def test_only_the_shards_that_hold_something_new_are_made(made, extended):
    def shards(project, paper):
        actual = (project.folder / f"results/tiny/shards/{paper}").glob("*.parquet")
        return {p.name: p.stat().st_mtime_ns for p in actual if not is_edited(p.stem)}

    for paper in ("sajed2019", "neel2018"):
        before, after = shards(made, paper), shards(extended, paper)
        assert before.items() <= after.items(), "a shard without anything new was made again"
        assert any(name.startswith("strangers_greedy") for name in after.keys() - before.keys()), paper
