"""Check the rule of scale tiny."""

import yaml

from privarms.planning import configuration, paths, tiny
from privarms.planning.studies import Axes

STUDY = {
    "protocol": "bandit",
    "environment": {"name": "bernoulli"},
    "horizon": 1_000_000,
    "replicates": 1_000,
    "block": 100,
    "checkpoints": {"count": 121, "first": 10_000, "quarters": True},
    "grid": [{"K": [2, 3, 5, 10, 20], "horizon": [50, 1_000, 10_000], "width": ["a", "b", "c", "d", "e"]}],
    "policies": [{"policy": "p", "replicates": 1, "grid": {"n_aux": [0, 500], "batch": [10, 100]}}],
}


def test_different_numbers_of_rounds_stay_different_and_in_order():
    rounds = [1, 99, 100, 101, 200, 500, 1_000, 2_000, 50_000, 10**6, 10**10]
    assert [tiny.fewer(n) for n in rounds] == [1, 99, 100, 101, 104, 107, 110, 114, 127, 140, 180]


def test_a_study_is_cut_as_documented():
    assert tiny.cut(STUDY) == STUDY | {
        "horizon": 140,
        "replicates": 2,
        "block": 1,
        "checkpoints": {"count": 8, "first": 120, "quarters": True},
        "grid": [{"K": [2, 3], "horizon": [50, 110], "width": ["a", "b", "c", "d", "e"]}],
        "policies": [{"policy": "p", "replicates": 1, "grid": {"n_aux": [0, 107], "batch": [1, 5]}}],
    }


def test_an_audit_keeps_its_horizon_and_its_grid():
    study = {key: STUDY[key] for key in ("horizon", "replicates", "block", "grid", "policies")} | {"audit": "a"}
    assert tiny.cut(study) == study | {"replicates": 1, "block": 1}


def test_a_row_of_a_table_keeps_its_place_for_messages():
    row = Axes(horizon=1_000).at("grid.csv: line 2")
    (few,) = tiny.cut(STUDY | {"grid": [row]})["grid"]
    assert (few.parameters, few.place) == ({"horizon": 110}, "grid.csv: line 2")
    assert row.parameters == {"horizon": 1_000}


def test_a_paper_has_the_cut_values_of_scale_quick_and_lists_the_studies_that_differ(tmp_path):
    about = {"title": "t", "authors": "a", "year": 2020, "venue": "v", "readings": []}
    same = STUDY | {"horizon": 100, "grid": {"K": 5}, "policies": [{"policy": "dp_se"}]}
    long = same | {"horizon": {"paper": 10_000, "quick": 1_000}}
    file = tmp_path / "p2020/studies.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(about | {"studies": {"same": same, "long": long}}), encoding="utf-8")
    paper = configuration.load_paper(file, "tiny")
    assert {name: (s.horizon, s.replicates) for name, s in paper.studies.items()} == {
        "same": (100, 2),
        "long": (110, 2),
    }
    assert paper.shrunk == ("long",)


def test_a_value_of_scale_tiny_in_the_file_is_not_cut(tmp_path):
    about = {"title": "t", "authors": "a", "year": 2020, "venue": "v", "readings": []}
    horizon = {"paper": 10_000, "quick": 1_000, "tiny": [300, 500]}
    grid = [{"K": [2, 3, 4, 5, 6], "horizon": 1_000}, {"K": 5, "horizon": horizon}]
    own = STUDY | {"grid": grid, "policies": [{"policy": "dp_se"}]}
    file = tmp_path / "p2020/studies.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(about | {"studies": {"s": own}}), encoding="utf-8")
    grids = {scale: configuration.load_paper(file, scale).studies["s"].grid for scale in ("tiny", "quick")}
    assert [one.parameters["horizon"] for one in grids["tiny"]] == [110, [300, 500]]
    assert grids["tiny"][0].parameters["K"] == [2, 3]
    assert [one.parameters["horizon"] for one in grids["quick"]] == [1_000, 1_000]


def test_a_table_of_scale_tiny_is_read_and_not_cut(tmp_path):
    about = {"title": "t", "authors": "a", "year": 2020, "venue": "v", "readings": []}
    grid = {"paper": {"K": 5}, "quick": {"K": 5}, "tiny": {"table": "own.csv"}}
    file = tmp_path / "p2020/studies.yaml"
    file.parent.mkdir()
    (file.parent / "own.csv").write_text("K,horizon\n5,300\n", encoding="utf-8")
    own = STUDY | {"grid": grid, "policies": [{"policy": "dp_se"}]}
    file.write_text(yaml.safe_dump(about | {"studies": {"s": own}}), encoding="utf-8")
    (row,) = configuration.load_paper(file, "tiny").studies["s"].grid
    assert (row.parameters, row.place) == ({"K": 5, "horizon": 300}, f"{file.parent / 'own.csv'}: line 2")


def test_stand_ins_of_scale_tiny_do_not_replace_those_of_scale_quick():
    places = {scale: paths.prepared("adult", "json", stand_in=True, scale=scale) for scale in ("tiny", "quick")}
    assert len(set(places.values())) == 2
    assert {paths.named(place) for place in places.values()} == {"adult"}
    assert paths.prepared("adult", "json", scale="tiny") == paths.prepared("adult", "json")
