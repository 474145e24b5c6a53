"""Papers are made one after the other, and what is nearer to a paper's results goes first."""

from types import SimpleNamespace

from privarms.studies.order import STAGES, Order

WORK = {"long2020": 100.0, "short2021": 1.0, "all2022": 0.5}


def order():
    simulation = SimpleNamespace(seconds=WORK.get)
    outputs = SimpleNamespace(
        papers=WORK,
        reads_audits=lambda paper: paper == "all2022",
        datasets_of=lambda paper: ["users"] if paper != "all2022" else [],
        datasets=SimpleNamespace(statuses={"users": "real", "nobodys": "real"}),
    )
    return Order(simulation, outputs)


def test_least_work_goes_first_and_what_reads_the_audits_of_all_last():
    assert order().papers == ["short2021", "long2020", "all2022"]


def test_every_job_of_a_paper_goes_before_those_of_the_next():
    found = order()
    ranks = [found.priority(paper, stage) for paper in reversed(found.papers) for stage in STAGES]
    assert ranks == sorted(set(ranks))
    assert ranks[0] > 0
    assert found.priority("nobody1999", "show") == 0


def test_data_are_as_urgent_as_the_first_paper_that_needs_them():
    found = order()
    assert found.priority_of_data("users") == found.priority("short2021", "show")
    assert found.priority_of_data("nobodys") == 0


def test_audits_are_read_before_the_runs_of_the_paper_that_needs_them():
    found = order()
    assert found.priority("all2022", "simulate") < found.priority_of_audits() < found.priority("long2020", "simulate")
