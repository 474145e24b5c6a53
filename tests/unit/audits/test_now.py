"""Check audits from the command line and from Python."""

import math

import pandas as pd
import pytest

from privarms.audits import verdicts
from privarms.audits.events import first_reward
from privarms.audits.power import power
from privarms.audits.reduction import configured
from privarms.cli import audit_now
from privarms.errors import PrivarmsError
from privarms.planning import auditing
from privarms.registry import extensions, library, modules
from privarms.registry.modules import PolicyModule


def test_the_studies_of_the_project_are_run(capsys, tmp_path):
    file = tmp_path / "audit.csv"
    assert audit_now.show("laplace", trials=20_000, csv=str(file)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "no violation shown: laplace, released_number"
    assert lines[1].startswith("  claimed 0.25; shown at least 0.")
    assert lines[1].endswith("; 20,000 trials")
    assert file.read_text().partition("\n")[0] == ",".join(verdicts.COLUMNS)


def test_a_policy_that_is_not_private_as_claimed_gives_status_1(monkeypatch, capsys):
    whole = audit_now.run_audits("laplace", trials=1_000)
    broken = whole.assign(verdict=verdicts.NOT_PRIVATE)
    monkeypatch.setattr(audit_now, "results", lambda chosen: broken)
    assert audit_now.show("laplace") == 1
    assert capsys.readouterr().out.startswith("not private as claimed: laplace")


def test_a_policy_with_variants_is_audited_in_both():
    rows = audit_now.run_audits("private_ucb_noise_only", trials=200)
    assert set(rows["variant"]) == {"as_printed", "as_released"}


def test_away_from_the_project_a_policy_gets_the_audit_that_fits_its_family(monkeypatch):
    monkeypatch.setattr(audit_now, "_of_studies", lambda: [])
    actual = audit_now.cells("dp_se")
    assert {cell.environment for cell in actual} == {"any_choice"}
    own_audits = r"laplace: no audit fits .* `privarms audit laplace` runs its own audits: released_number"
    with pytest.raises(PrivarmsError, match=own_audits):
        audit_now.cells("laplace")


@pytest.mark.parametrize(
    ("policy", "reason"),
    [("ucb1", "ucb1: it has no parameter epsilon"), ("private_ucb_gamma_only", "its module declares PRIVATE = False")],
)
def test_a_policy_that_claims_no_privacy_gives_this_as_the_reason(policy, reason):
    with pytest.raises(PrivarmsError, match=f"{reason}, so it claims no privacy"):
        audit_now.cells(policy)


def test_published_bandits_have_audits_that_need_no_study_and_detect_half_of_the_noise():
    """DP-UCB's audit needs ten million trials (`times`), so only its exact probabilities are checked."""
    for policy in ("adap_klucb", "adap_ucb", "dp_imed", "dp_klucb", "dp_se", "dp_ucb"):
        cells = audit_now.own_cells(policy, 20_000)
        assert policy in modules.audits()[cells[0].environment]
        if policy == "dp_ucb":
            rows = pd.DataFrame([cells[0].parameters | {"horizon": cells[0].horizon}])
            params, pair = configured(policy, first_reward.AUDIT, rows, noise=0.5)
            half = [first_reward.AUDIT.probability(params, inputs) for inputs in pair]
            assert power(*half, 1.0, cells[0].replicates, verdicts.CONFIDENCE) > 0.8
            continue
        (row,) = audit_now.results(cells).to_dict("records")
        assert (row["verdict"], row["claimed_epsilon"]) == (verdicts.NO_VIOLATION, 1)
        assert "Other changes were not tried." in row["note"]
    # A policy without such an audit gets that of its family.
    assert {cell.environment for cell in audit_now.own_cells("private_ucb", 10)} == {"any_choice"}


def test_a_name_that_is_none_is_an_error_that_lists_them():
    with pytest.raises(PrivarmsError, match=r"nobody: no policy or mechanism; expected one of .*dp_se"):
        audit_now.run_audits("nobody")


def test_everything_that_claims_an_epsilon_is_listed():
    actual = audit_now.listed()
    assert set(actual["subject"]) == {
        *library.names("mechanisms"),
        *(p for p in library.names("policies") if PolicyModule(p).claims_epsilon),
    }
    assert actual.set_index("subject")["audits"]["dp_se"] == "neighbouring_streams"


LEAK = '''"""Choose arm 1 only after a reward of 1, with probability 0.3: this gives the reward away."""

from typing import NamedTuple

from numba import njit

from privarms.mechanisms.laplace import laplace

LABEL = "a leak"
{more}


class Params(NamedTuple):
    """n_arms: K; epsilon: > 0."""

    n_arms: int
    epsilon: float


def configure(K: int, epsilon: float) -> Params:
    """Return the parameters."""
    return Params(K, epsilon)


@njit
def init(params):
    """Return the arm."""
    return 0


@njit
def choose(params, state, context, t, rng):
    """Return the arm."""
    return state


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Return the next arm."""
    return int(reward > 0.5 and rng.random() < 0.3 + 0 * laplace(1 / params.epsilon, rng))
'''


@pytest.fixture
def leak(tmp_path, monkeypatch):
    """Return leak(more), which writes a leaky policy with further lines into an extension, audited at one size."""
    monkeypatch.setenv(extensions.VARIABLE, "")
    monkeypatch.setattr(auditing, "SIZES", ((2, 8, 1.0),))

    def write(more="", text=LEAK):
        folder = tmp_path / f"mine{len(list(tmp_path.iterdir()))}"
        file = folder / "policies/bandit/leak_in_the_open.py"
        file.parent.mkdir(parents=True)
        file.write_text(text.format(more=more), encoding="utf-8")
        extensions.extend([folder])
        library.refresh()
        return "leak_in_the_open"

    return write


def test_the_worst_inputs_and_event_are_named_saved_and_counted_once_more(leak, tmp_path, capsys):
    file = tmp_path / "worst.json"
    assert audit_now.show(leak(), trials=2_000, save=str(file)) == 1
    printed = capsys.readouterr().out
    assert printed.startswith(
        "not private as claimed: leak_in_the_open, any_choice; weakened control caught in 1 of 1 sizes\n"
    )
    assert "The runs differed most when reward number " in printed
    assert audit_now.show(None, replay=str(file), trials=500) == 1
    assert " of 500 trials with the two inputs" in capsys.readouterr().out


def test_a_file_that_is_none_of_ours_cannot_be_replayed(tmp_path):
    file = tmp_path / "worst.json"
    for text, words in (("{}", "worst.json: "), ("no JSON", r"worst.json: expected a JSON file that .* --save` wrote")):
        file.write_text(text)
        with pytest.raises(PrivarmsError, match=words):
            audit_now.show(None, replay=str(file))


def test_a_saved_event_for_another_number_of_arms_is_refused(leak, tmp_path):
    file = tmp_path / "worst.json"
    audit_now.show(leak(), trials=500, save=str(file))
    file.write_text(file.read_text().replace('"K":2', '"K":7'))
    with pytest.raises(PrivarmsError, match=r"worst.json: .*: expected one number of arms; found 2, 7"):
        audit_now.show(None, replay=str(file))


def test_a_policy_that_cannot_be_run_is_one_error(leak):
    with pytest.raises(PrivarmsError, match="leak_in_the_open: not audited, because it could not be run"):
        audit_now.run_audits(leak(text=LEAK.replace("return state\n", "return state.gone\n")), 100)


def test_approximate_privacy_is_judged_with_its_delta(leak):
    # The event has the probabilities 0.3 and 0, so it is no violation within a delta of 0.4.
    strict, loose = (audit_now.run_audits(leak(f'PRIVACY = "approximate"\nDELTA = {d}'), 2_000) for d in (1e-6, 0.4))
    assert strict["verdict"].tolist() == [verdicts.NOT_PRIVATE]
    assert "promised_delta = 1e-06" in strict["setting"].iloc[0]
    assert loose["verdict"].iloc[0] != verdicts.NOT_PRIVATE


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('PRIVACY = "joint"', "not audited: it declares PRIVACY = 'joint'"),
        ('PRIVACY = "zCDP"', r"leak_in_the_open.py: PRIVACY: expected one of pure, approximate, local, joint"),
        ('PRIVACY = "approximate"', r"needs a delta in \[0, 1\), .*; found none"),
    ],
)
def test_a_promise_that_no_audit_is_about_gives_this_as_the_reason(leak, more, words):
    with pytest.raises(PrivarmsError, match=words):
        audit_now.run_audits(leak(more))


def test_a_parameter_that_the_audit_does_not_know_is_named(leak):
    with pytest.raises(
        PrivarmsError, match=r"leak_in_the_open\.py: .* no value for the parameter width; give it a def"
    ):
        audit_now.run_audits(leak(text=LEAK.replace("K: int, ep", "K: int, width: float, ep")))


def only(condition):
    """Return the text of a policy that refuses other parameters."""
    refuses = f'    if not {condition}:\n        raise ValueError("unfit")\n    return Params'
    return LEAK.replace("    return Params", refuses)


def test_a_policy_that_refuses_the_larger_budget_of_the_control_has_none(leak):
    (row,) = audit_now.run_audits(leak(text=only("epsilon <= 1")), trials=2_000).to_dict("records")
    assert row["verdict"] == verdicts.NOT_PRIVATE
    assert math.isnan(row["broken_twin_lower_bound"])


def test_the_sizes_that_a_policy_refuses_are_not_audited_and_the_others_are(leak, monkeypatch):
    monkeypatch.setattr(auditing, "SIZES", ((2, 8, 1.0), (3, 8, 1.0)))
    name = leak(text=only("K >= 3"))
    assert {cell.replicates for cell in audit_now.affordable(audit_now.fitting_cells(name), 20_000, 1e-9)} == {500}
    rows = audit_now.run_audits(name, trials=2_000)
    assert rows["verdict"].tolist() == [verdicts.NOT_PRIVATE, verdicts.NOT_AUDITED]
    with pytest.raises(PrivarmsError, match="not audited, because it could not be run"):
        audit_now.run_audits(leak(text=only("K >= 4")), trials=2_000)


def test_a_policy_of_another_number_of_arms_is_audited_with_these(leak):
    rows = audit_now.run_audits(
        leak(text=LEAK.replace("K: int", "K: Literal[4]").replace("import N", "import Literal, N")), trials=2_000
    )
    assert rows["setting"].str.contains("K = 4").all()
    assert rows["verdict"].tolist() == [verdicts.NOT_PRIVATE]


def test_a_slow_policy_gets_fewer_trials(leak):
    cells = audit_now.fitting_cells(leak())
    quick, slow = (audit_now.affordable(cells, 20_000, seconds) for seconds in (1e4, 1e-9))
    assert {cell.replicates for cell in quick} == {20_000}
    assert {cell.replicates for cell in slow} == {audit_now.FEWEST}
