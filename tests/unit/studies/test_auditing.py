"""Everything that claims an epsilon has an audit: ours by name, a stranger's without asking."""

from pathlib import Path

import pytest

from privarms.errors import PrivarmsError
from privarms.studies import auditing, configuration, library
from privarms.studies.cells import expand

STUDIES = Path(__file__).parents[3] / "config/studies"

POLICY = """from privarms.mechanisms.laplace import laplace
from privarms.policies import Policy
LABEL = "Noisy"
SECONDS_PER_RUN = SECONDS_PER_STEP = 1e-6
SECONDS_PER_RUN = 1e-6
SECONDS_PER_STEP = 1e-6
def configure(K: int, epsilon: float, pulls: int): ...
def init(params): ...
def choose(params, state, context, t, rng): ...
def learn(params, state, context, arm, reward, t, rng): ...
POLICY = Policy(init, choose, learn)
"""


@pytest.fixture
def papers():
    return {file.stem: configuration.load_paper(file, "paper") for file in sorted(STUDIES.glob("*.yaml"))}


@pytest.fixture
def noisy(tmp_path, monkeypatch):
    """An extension with a policy of that name; noisy(text) writes its module."""

    def write(text=POLICY):
        file = tmp_path / "mine/policies/bandit/noisy.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("def ", "@njit\ndef ").replace("@njit\ndef conf", "def conf"), encoding="utf-8")
        for read in (library._modules, library.tree, library._literals, library.function_arguments):
            read.cache_clear()
        library.extend([tmp_path / "mine"])

    monkeypatch.setenv(library.EXTENSIONS_VARIABLE, "")
    yield write
    for read in (library._modules, library.tree, library._literals, library.function_arguments):
        read.cache_clear()


def study(**entry):
    return {
        **{"protocol": "bandit", "environment": {"name": "bernoulli", "top": 0.7, "bottom": 0.3}, "horizon": 1000},
        **{"replicates": 4, "block": 2, "grid": {"K": [2, 5], "epsilon": [0.1, 1]}, "policies": [entry]},
    }


def test_every_mechanism_and_every_policy_with_an_epsilon_is_audited(papers):
    # What this says is what to do.
    assert auditing.unaudited(papers) == []


def test_what_nobody_audits_is_named_with_what_to_do(papers):
    spared = ("audit_laplace", "audit_dp_ucb")
    left = {k: v for k, v in papers["sajed2019"]["studies"].items() if k not in spared}
    said = auditing.unaudited(papers | {"sajed2019": papers["sajed2019"] | {"studies": left}})
    assert [line.partition(":")[0] for line in said] == [
        "workflow/privarms/mechanisms/laplace.py",
        "workflow/privarms/policies/bandit/dp_ucb.py",
    ]
    assert "no study runs its audit first_reward" in said[1]
    assert "PRIVATE = False" in said[1]
    assert all("docs/extend.md" in line for line in said)


def test_a_policy_without_an_audit_module_is_named_too(papers, noisy):
    noisy()
    (said,) = auditing.unaudited(papers)
    assert "no audit has it as its SUBJECT; add a module in audits/" in said


def test_a_stranger_s_policy_gets_one_without_asking(papers, noisy):
    noisy()
    mine = {"paper": "mine", "studies": {"first": study(policy="noisy", pulls=[5, 50])}}
    found = auditing.completed(papers | {"mine": mine}, 1000)
    assert {name: of for name, of in found.items() if name != "mine"} == papers
    assert list(found["mine"]["studies"]) == ["first", "audit_noisy"]
    cells = expand("mine.yaml", "mine", "audit_noisy", found["mine"]["studies"]["audit_noisy"])
    assert {c.environment for c in cells} == {"any_choice"}
    given = [c.parameters for c in cells]
    # Both neighbours, what is claimed and a twin that is told twice as much, and what the study gives the policy.
    assert {(p["neighbour"], p["epsilon"], p["promised"], p["pulls"]) for p in given} == {
        (n, e, 1.0, p) for n in (0, 1) for e in (1.0, 2.0) for p in (5, 50)
    }
    assert {c.replicates for c in cells} == {1000}


def test_none_is_added_where_nothing_is_claimed_or_an_audit_is_there(papers, noisy):
    mine = {"paper": "mine", "studies": {"first": study(policy="noisy", pulls=5)}}
    noisy(POLICY + "PRIVATE = False\n")
    assert auditing.completed({"mine": mine}, 10) == {"mine": mine}
    noisy()
    own = mine["studies"] | {"own": {"protocol": "audit", "policies": [{"policy": "noisy"}]}}
    mine = {"paper": "mine", "studies": own}
    assert auditing.completed({"mine": mine}, 10) == {"mine": mine}
    ours = {"paper": "ours", "studies": {"first": study(policy="dp_se"), "second": study(policy="ucb1")}}
    assert auditing.completed({"ours": ours}, 10) == {"ours": ours}


def test_a_mechanism_stands_in_audits_alone(papers):
    entry = papers["sajed2019"]["studies"]["audit_laplace"]
    assert {c.policy for c in expand("f", "sajed2019", "audit_laplace", entry)} == {"laplace"}
    with pytest.raises(PrivarmsError, match="is of the family mechanisms, and the protocol bandit runs"):
        expand("f", "p", "s", study(policy="laplace"))


def test_no_policy_has_a_mechanism_s_name(noisy, tmp_path):
    noisy()
    file = tmp_path / "mine/policies/bandit/noisy.py"
    file.rename(file.with_name("laplace.py"))
    library._modules.cache_clear()
    with pytest.raises(PrivarmsError, match="laplace: expected a name that no mechanism has"):
        library.names("policies")
