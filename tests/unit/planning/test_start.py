"""Check the start of a run: which data are real."""

from privarms.data import sources
from privarms.planning import start
from privarms.planning.configuration import Configuration
from privarms.planning.datasets import Datasets

FILE = {"name": "a.csv", "url": "http://127.0.0.1:9/a.csv"}


def described(name, **entry):
    return sources.describe(name, [FILE], title="T", licence="L", citation="C", **entry)


def test_data_are_real_where_their_files_are_and_else_a_stand_in_or_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/raw/here").mkdir(parents=True)
    (tmp_path / "data/raw/here/a.csv").touch()
    (tmp_path / "mirror/there").mkdir(parents=True)
    (tmp_path / "mirror/there/a.csv").touch()
    datasets = (described("gone"), described("there"), described("here"), described("own", table={"label": "a"}))
    of_sources = {dataset.name: dataset for dataset in datasets}
    for scale, otherwise in (("quick", "stand-in"), ("paper", "missing")):
        config = Configuration.model_construct(scale=scale, mirror=str(tmp_path / "mirror"))
        statuses = start.look_for(list(of_sources), config, of_sources)
        assert statuses == {"gone": otherwise, "there": "real", "here": "real", "own": "missing"}


def test_scale_tiny_looks_only_for_the_user_s_own_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/raw/own").mkdir(parents=True)
    (tmp_path / "data/raw/own/a.csv").touch()
    asked = []
    monkeypatch.setattr(sources, "_answers", asked.append)
    of_sources = {d.name: d for d in (described("gone"), described("own", table={"label": "a"}))}
    statuses = start.look_for(list(of_sources), Configuration.model_construct(scale="tiny"), of_sources)
    assert (statuses, asked) == ({"gone": "stand-in", "own": "real"}, [])


def test_data_that_the_asked_papers_do_not_use_are_not_announced(capsys, quick_plan):
    statuses = dict.fromkeys(quick_plan.datasets.statuses, "stand-in")
    plan = quick_plan._replace(datasets=Datasets(quick_plan.datasets.sources, statuses))
    start.announce(plan, ["snakemake", "sajed2019_fig1a", "--cores", "2"])
    assert capsys.readouterr().err == ""
    for arguments in (["snakemake", "ma2025"], ["snakemake", "all"], ["snakemake"]):
        start.announce(plan, arguments)
        err = capsys.readouterr().err
        # Other files in the same folder have a line of their own.
        for datasets in ("adult, adultcopies, adultone", "jobs", "jobssample", "taxisample, taxisamplecard"):
            assert f"{datasets}: a synthetic stand-in is used." in err
