"""Check what a rule of the Snakefile gets for one job."""

import re
from pathlib import Path

import pytest

from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.planning import paths, start
from privarms.planning.jobs import Job, JobsOfRule
from privarms.registry import extensions
from tests import ROOT


@pytest.fixture
def jobs():
    """Return the jobs of a rule, each with its key as input, and the log of what was planned and computed."""
    log = []

    def planned(*key):
        log.append(key)
        return Job({"read": list(key)}, lambda: log.append("params") or {"first": key[0]}, priority=2, minutes=5)

    return JobsOfRule(planned), log


def test_a_job_is_planned_once_and_its_parameters_only_if_they_are_asked_for(jobs):
    of_rule, log = jobs
    assert of_rule.inputs(["a", "b"]) == of_rule["a", "b"].inputs == {"read": ["a", "b"]}
    assert (of_rule.priority(["a", "b"]), of_rule.minutes(["a", "b"], attempt=3)) == (2, 15)
    assert log == [("a", "b")]
    params = of_rule.params("first")
    assert [function(["a", "b"]) for function in (params["first"], params["first"])] == ["a", "a"]
    assert log == [("a", "b"), "params"]


def test_a_table_with_the_name_of_a_figure_has_files_of_another_name(quick_plan):
    job = quick_plan.jobs["write_tables"]["ma2025", "deviations"]
    assert job.params["made_by"] == quick_plan.outputs.entry("ma2025", "deviations_table").made_by
    assert quick_plan.jobs["draw_figures"]["ma2025", "deviations"].params["made_by"] != job.params["made_by"]


@pytest.mark.parametrize(
    ("rule", "key", "words"),
    [
        ("draw_figures", ("neel2018", "fig99"), "neel2018: unknown figure 'fig99'; expected one of fig1"),
        ("write_tables", ("neel2018", "fig1"), "neel2018: unknown table 'fig1'"),
        ("compute_inference", ("neel2018", "fig1"), "neel2018: unknown inference table 'fig1'"),
        ("simulate_shard", ("neel2018", "ucb-000000000000"), "neel2018: no shard ucb-000000000000 in this plan"),
        ("aggregate_study", ("neel2018", "fig1"), "neel2018: unknown study 'fig1'"),
        ("judge_audits", ("ucb9",), "audits: unknown policy 'ucb9'"),
    ],
)
def test_an_unknown_output_is_one_error(quick_plan, rule, key, words):
    with pytest.raises(PrivarmsError, match=words):
        quick_plan.jobs[rule][key]


def rules():
    """Yield each rule that asks the plan: its name, and the names of the parameters that its file lists."""
    for file in sorted((ROOT / "workflow/rules").glob("*.smk")):
        for rule, names in re.findall(r'plan\.jobs\["(\w+)"\]\.params\(([^)]*)\)', file.read_text(encoding="utf-8")):
            yield rule, sorted(re.findall(r'"(\w+)"', names))


@pytest.mark.parametrize(("rule", "names"), [*rules()])
def test_a_rule_lists_the_parameters_that_its_jobs_have_and_its_script_reads(quick_plan, rule, names):
    key = {
        "simulate_shard": ("neel2018", Path(quick_plan.simulation.shard_files("neel2018", "regret_1")[0]).stem),
        "aggregate_study": ("neel2018", "regret_1"),
        "compute_inference": ("neel2018", next(iter(quick_plan.outputs.inference("neel2018")))),
        "draw_figures": ("neel2018", "fig1"),
        "write_tables": ("ma2025", "deviations"),
        "judge_audits": ("private_ucb",),
        "judge_statements": ("neel2018",),
    }
    planned = set(quick_plan.jobs[rule][key[rule]].params)
    # Figures have no sheet, but figures and tables are planned by one function.
    assert planned - ({"sheet"} if rule == "draw_figures" else set()) == set(names)
    script = (ROOT / f"workflow/scripts/{rule}.py").read_text(encoding="utf-8")
    read = set(re.findall(r"snakemake\.params\.(\w+)", script))
    assert read
    assert read <= set(names)


def test_shards_of_a_paper_come_after_those_of_older_papers(quick_plan):
    files = quick_plan.simulation.shard_files("ma2025", "regret")
    jobs = [quick_plan.jobs["simulate_shard"]["ma2025", Path(file).stem] for file in files]
    paper = quick_plan.jobs["aggregate_study"]["ma2025", "regret"].priority
    older = quick_plan.jobs["aggregate_study"]["neel2018", "experiment_1"].priority
    assert all(paper - 1 < job.priority <= paper < older for job in jobs)
    assert all(job.minutes >= 5 for job in jobs)


def test_a_figure_with_an_own_policy_waits_only_for_the_audits_of_its_policies(monkeypatch):
    monkeypatch.setenv(extensions.VARIABLE, "")
    monkeypatch.setenv(start.STATUSES_VARIABLE, "")
    monkeypatch.delenv(start.STATUSES_VARIABLE)
    config = settings.read(ROOT / "config/config.yaml") | {"scale": "quick", "mirror": None}
    plan = start.make_plan(config | {"extensions": [str(ROOT / "examples/my_bandits")]}, main=False)
    figure, published = (plan.jobs["draw_figures"][key] for key in (("mine", "budgets_final"), ("sajed2019", "fig1a")))
    assert figure.inputs["audit"] == [paths.audit_of("quick", policy) for policy in ("dp_se", "private_halving")]
    assert published.inputs["audit"] == []
    judged = {policy: plan.jobs["judge_audits"][policy,] for policy in ("dp_se", "private_halving", "ucb1")}
    assert {policy: job.params["named"] for policy, job in judged.items()} == {
        "dp_se": [("sajed2019", "audit")],
        "private_halving": [("mine", "audit_private_halving")],
        "ucb1": [],
    }
    assert judged["dp_se"].inputs["studies"] == [paths.study("quick", "sajed2019", "audit")]
