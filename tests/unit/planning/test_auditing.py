"""Check that every policy with an epsilon has an audit: ours in a study, those of extensions automatically."""

from dataclasses import replace

import pytest

from privarms.planning import auditing, configuration
from privarms.planning.cells import expand
from privarms.planning.studies import Paper, StudiesFile, Study
from privarms.registry import extensions, library
from privarms.registry.modules import PolicyModule
from tests import PAPERS

POLICY = """from privarms.mechanisms.laplace import laplace
LABEL = "Noisy"
def configure(K: int, epsilon: float, pulls: int): ...
def init(params): ...
def choose(params, state, context, t, rng): ...
def learn(params, state, context, arm, reward, t, rng): ...
"""


@pytest.fixture
def papers():
    return {f.parent.name: configuration.load_paper(f, "paper") for f in sorted(PAPERS.glob("*/studies.yaml"))}


@pytest.fixture
def noisy(tmp_path, monkeypatch):
    """Return noisy(text), which writes a policy `noisy` into a new extension."""

    def write(text=POLICY):
        folder = tmp_path / f"mine_{len(list(tmp_path.iterdir()))}_{abs(hash(str(tmp_path))) % 10**6}"
        file = folder / "policies/bandit/noisy.py"
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        extensions.extend([folder])

    monkeypatch.setenv(extensions.VARIABLE, "")
    return write


ABOUT = StudiesFile.model_construct(title="t")


def study(**entry):
    content = {
        **{"protocol": "bandit", "environment": {"name": "bernoulli", "top": 0.7, "bottom": 0.3}, "horizon": 1000},
        **{"replicates": 4, "block": 2, "grid": {"K": [2, 5], "epsilon": [0.1, 1]}, "policies": [entry]},
    }
    return Study.model_validate(content)


def test_every_mechanism_and_every_policy_with_an_epsilon_is_audited(papers):
    """If this fails: write an audit and a study (docs/extend-by-kind.md), or set PRIVATE = False in the module."""
    studies = [study for paper in papers.values() for study in paper.studies.values()]
    audited = {entry.policy for study in studies if study.protocol == "audit" for entry in study.policies}
    claiming = {*library.names("mechanisms"), *(p for p in library.names("policies") if PolicyModule(p).claims_epsilon)}
    assert claiming - audited == set()


def test_a_policy_of_an_extension_gets_one_without_asking(papers, noisy):
    noisy()
    mine = Paper("mine", ABOUT, {"first": study(policy="noisy", pulls=[5, 50])})
    actual = auditing.completed(papers | {"mine": mine}, 1000)
    assert {name: of for name, of in actual.items() if name != "mine"} == papers
    assert list(actual["mine"].studies) == ["first", "audit_noisy"]
    cells = expand("mine.yaml", "mine", "audit_noisy", actual["mine"].studies["audit_noisy"])
    assert {c.environment for c in cells} == {"any_choice"}
    parameters = [c.parameters for c in cells]
    # Both neighbours, the claimed epsilon, a weakened control, and the policy's arguments in the study.
    assert {(p["neighbour"], p["epsilon"], p["promised"], p["pulls"]) for p in parameters} == {
        (n, half * e, e, p) for n in (0, 1) for e in (0.25, 1.0, 4.0) for half in (1, 2) for p in (5, 50)
    }
    assert {c.replicates for c in cells} == {1000}


def test_a_policy_for_two_arms_is_audited_with_two(noisy):
    noisy(POLICY.replace("K: int", "K: Literal[2]").replace("LABEL", "from typing import Literal\nLABEL"))
    audit = auditing.study_of("any_choice", "noisy", [{"pulls": 5}], 10)
    cells = expand("mine.yaml", "mine", "audit_noisy", audit)
    assert {cell.parameters["K"] for cell in cells} == {2}


def test_none_is_added_where_nothing_is_claimed_or_an_audit_is_there(papers, noisy):
    mine = Paper("mine", ABOUT, {"first": study(policy="noisy", pulls=5)})
    noisy(POLICY + "PRIVATE = False\n")
    assert auditing.completed({"mine": mine}, 10) == {"mine": mine}
    noisy()
    audit = {"audit": "any_choice", "replicates": 1, "block": 1, "policies": [{"policy": "noisy"}]}
    mine = replace(mine, studies={**mine.studies, "own": Study.model_validate(audit)})
    assert auditing.completed({"mine": mine}, 10) == {"mine": mine}
    ours = Paper("ours", ABOUT, {"first": study(policy="dp_se"), "second": study(policy="ucb1")})
    assert auditing.completed({"ours": ours}, 10) == {"ours": ours}
