"""A policy that does not fit its study's protocol is refused with both of their names, before anything runs."""

import pytest

from privarms.errors import PrivarmsError
from privarms.studies import contract, library
from privarms.studies.cells import expand

ROUNDS = """
CONTRACT = {
    "init": ("params",),
    "choose": ("params", "state", "context", "t", "rng"),
    "POLICY": "Policy(init, choose)",
}
"""
GOOD = """
LABEL = "good"
SECONDS_PER_RUN = SECONDS_PER_STEP = 1.0
def configure(K): ...
def init(params): ...
def choose(params, state, context, t, rng): ...
POLICY = Policy(init, choose)
"""
FILES = {
    "policies/__init__.py": "",
    "policies/rounds/__init__.py": ROUNDS,
    "policies/users/__init__.py": ROUNDS.replace("context", "user"),
    "policies/rounds/good.py": GOOD,
    "policies/rounds/_shared.py": "from functools import partial\ndef pick(q, params, state, context, t, rng): ...\n",
    "policies/users/other.py": GOOD.replace("context", "user"),
    "protocols/__init__.py": "",
    "protocols/rounds.py": 'FAMILY = "rounds"\n',
    "protocols/users.py": 'FAMILY = "users"\n',
    "protocols/audit.py": "FAMILY = None\n",
    "protocols/homeless.py": "KEYS = ()\n",
    "environments/__init__.py": "",
    "environments/plain.py": "def configure(K): ...\n",
    "audits/__init__.py": "",
    "audits/neighbours.py": 'SUBJECT = "good"\ndef configure(K): ...\n',
    "audits/reduction.py": "def reduce(counts): ...\n",
}


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A library of a few lines; room(file, text) adds to it."""
    root = tmp_path / "workflow" / "pack"

    def add(file, text):
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for read in (library._modules, library.tree, library._literals, library.function_arguments):
            read.cache_clear()

    for file, text in FILES.items():
        add(file, text)
    monkeypatch.setattr(library, "ROOT", root)
    monkeypatch.setattr(library, "PACKAGE", "pack")
    return add


def check(policy="good", protocol="rounds", environment="plain"):
    contract.check("p.yaml: studies.s.policies[0].policy", policy, protocol, environment)


def refused(said, **of):
    with pytest.raises(PrivarmsError, match=said) as error:
        check(**of)
    return str(error.value)


def test_what_fits_is_not_refused(room):
    check()
    check("other", "users")
    check("good", "audit", "neighbours")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("context, t, rng", "t, rng"), r"expected choose\(params, .*; found choose\(params, state, t, rng\)"),
        (("def choose", "def chooses"), r"expected the function choose\(.*\); found none of this name"),
        (
            ("Policy(init, choose)", "Policy(choose, init)"),
            r"expected POLICY = Policy\(init, .*; found Policy\(choose, init\)",
        ),
        (("POLICY =", "POLICIES ="), "expected POLICY = .* found nothing of this name"),
        (("def configure", "def configured"), r"expected a function configure\(\.\.\.\); found none"),
    ],
)
def test_a_fault_names_key_policy_and_protocol_and_what_was_expected(room, wrong, said):
    room("policies/rounds/bad.py", GOOD.replace(*wrong))
    message = refused(said, policy="bad")
    assert message.startswith("p.yaml: studies.s.policies[0].policy: workflow/pack/policies/rounds/bad.py")
    assert "configure" in said or "protocol rounds" in message


def test_functions_that_are_imported_renamed_or_partial_are_followed(room):
    text = (
        "from functools import partial\n"
        "from pack.policies.rounds import _shared, good\n"
        "from pack.policies.rounds._shared import pick as picked\n"
        "from pack.policies.rounds.good import configure, POLICY\n"
        "init = good.init\n"
    )
    room("policies/rounds/new.py", text + "choose = partial(picked, 0.5)\n")
    check("new")
    room("policies/rounds/newer.py", text + "choose = _shared.pick\n")
    refused(r"found choose\(q, params, state, context, t, rng\)", policy="newer")


def test_a_policy_of_another_family_must_say_that_it_fits(room):
    refused("family users, and the protocol rounds runs the family rounds; expected", policy="other")
    # By the number of arguments: it looks at none of what is called differently.
    room("policies/users/both.py", GOOD.replace("context", "user") + 'ALSO_FITS = ("rounds",)\n')
    check("both")
    room("policies/users/short.py", GOOD.replace("context, ", "") + 'ALSO_FITS = ("rounds",)\n')
    refused(r"short.py:\d+ does not fit the protocol rounds.* found choose\(params, state, t, rng\)", policy="short")


def test_an_audit_has_a_protocol_and_a_subject_of_its_own(room):
    audit = {"protocol": "audit", "environment": "neighbours"}
    refused("neighbours audits good; found the policy other", policy="other", **audit)
    refused("the protocol audit does not run plain; expected one of audits/", protocol="audit")
    refused("the protocol rounds does not run neighbours; expected no audit", environment="neighbours")
    assert library.names("environments") == ["neighbours", "plain"]


def test_a_policy_without_a_family_a_family_without_a_contract_and_a_protocol_without_either_are_refused(room):
    room("policies/stray.py", GOOD)
    refused(r"policies/stray.py: expected in the package of its family, .* one of rounds, users", policy="stray")
    room("policies/round/typed.py", GOOD)
    refused(r"round/typed.py: expected in the package of its family, .* one of rounds, users", policy="typed")
    room("policies/users/__init__.py", "")
    refused("policies/users/__init__.py: CONTRACT: expected a literal", policy="other", protocol="users")
    refused("expected the literal FAMILY in protocols/homeless.py", protocol="homeless")


def test_a_name_that_two_families_have_is_refused(room):
    room("policies/users/good.py", GOOD)
    with pytest.raises(PrivarmsError, match=r"users/good.py: good: expected a name .*rounds/good.py has it"):
        library.names("policies")


def test_planning_refuses_it():
    study = {
        "protocol": "bandit",
        "environment": {"name": "bernoulli", "top": 0.9, "bottom": 0.1},
        "horizon": 10,
        "replicates": 1,
        "block": 1,
        "grid": {"K": 2},
        "policies": [{"policy": "uniform"}, {"policy": "oful"}],
    }
    with pytest.raises(PrivarmsError, match=r"^p.yaml: studies.s.policies\[1\].policy: .*oful.py .* protocol bandit"):
        expand("p.yaml", "p", "s", study)
    study["policies"].pop()
    assert len(expand("p.yaml", "p", "s", study)) == 1
