"""Check that grids become cells, and that errors in grids are named."""

from dataclasses import replace

import numpy as np
import pytest

from privarms.errors import PrivarmsError
from privarms.execution.cell import Cell
from privarms.files.model import checked
from privarms.planning import grids
from privarms.planning.cells import expand
from privarms.planning.studies import Study


def study(**changes):
    base = {
        "protocol": "bandit",
        "environment": {"name": "bernoulli", "top": 0.75, "bottom": 0.25},
        "horizon": 1000,
        "replicates": 10,
        "block": 4,
        "grid": {"K": 5, "epsilon": [0.1, 1]},
        "policies": [{"policy": "dp_se"}, {"policy": "ucb1"}],
    }
    return {key: value for key, value in (base | changes).items() if value is not None}


def cells(**changes):
    return expand("config/papers/p/studies.yaml", "p", "s", checked(Study, study(**changes), "f"))


OWN = [{"K": 5, "epsilon": 0.5}, {"K": [3, 10], "epsilon": 0.25}]


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        # Parameters that a policy does not have are dropped, and equal cells are merged.
        ([{"policy": "dp_se"}, {"policy": "ucb1"}], [{"epsilon": 0.1}, {"epsilon": 1}, {}]),
        # Lists in a policy's entry are axes too.
        (
            [{"policy": "dp_ucb", "width": ["log2.5", "chan"]}],
            [{"epsilon": e, "width": w} for e in (0.1, 1) for w in ("log2.5", "chan")],
        ),
        # A list of grids gives the cells of all grids, and a policy may have its own grid.
        (
            [{"policy": "dp_se", "grid": OWN}, {"policy": "ucb1"}],
            [{"epsilon": 0.5}, {"K": 3, "epsilon": 0.25}, {"K": 10, "epsilon": 0.25}, {}],
        ),
    ],
)
def test_grids_become_cells(policies, expected):
    actual = [
        {k: v for k, v in c.parameters.items() if k in ("K", "epsilon", "width")} for c in cells(policies=policies)
    ]
    assert actual == [{"K": 5} | one for one in expected]


def test_horizon_is_an_axis_and_a_policy_may_override_the_study():
    actual = cells(grid={"K": 5, "horizon": [100, 200]}, policies=[{"policy": "ucb1", "replicates": 3, "block": 1}])
    assert [(c.horizon, c.replicates, c.block, c.blocks) for c in actual] == [(100, 3, 1, 3), (200, 3, 1, 3)]


def test_identity_names_parameters_and_not_the_size_of_the_run():
    one = cells()[0]
    assert one.identity == cells(replicates=99, block=7)[0].identity
    assert one.identity == cells(checkpoints={"count": 5, "first": 10})[0].identity
    assert one.identity == cells(grid={"epsilon": [0.1, 0.3, 1], "K": 5})[0].identity
    for other in (cells(horizon=1001), cells(grid={"K": 6, "epsilon": 0.1}), cells(grid={"K": 5, "epsilon": 0.11})):
        assert one.identity != other[0].identity


def test_compared_policies_share_the_environment_s_stream():
    dp_se, _, ucb1 = cells()
    assert dp_se.environment_identity == ucb1.environment_identity
    assert dp_se.identity != ucb1.identity


def test_checkpoints_rise_geometrically_to_the_horizon():
    cell = cells(checkpoints={"count": 4, "first": 1})[0]
    np.testing.assert_array_equal(cell.checkpoints, [1, 10, 100, 1000])
    np.testing.assert_array_equal(cells()[0].checkpoints, [1000])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"protocol": "bandits"}, ["studies.s.protocol", "bandits", "bandit"]),
        ({"environment": {"name": "bernouli"}}, ["studies.s.environment.name", "bernouli", "bernoulli"]),
        ({"environment": {"name": "bernoulli", "tops": 1}}, ["studies.s.environment.tops", "top"]),
        ({"policies": [{"policy": "dp_sse"}]}, ["studies.s.policies[0].policy", "dp_sse", "dp_se"]),
        ({"policies": [{"policy": "dp_ucb", "widht": "chan"}]}, ["studies.s.policies[0].widht", "width"]),
        ({"policies": [{"policy": "dp_ucb", "width": "chann"}]}, ["studies.s.policies[0].width", "chann", "log2.5"]),
        ({"policies": [{"policy": "dp_ucb"}]}, ["studies.s.policies[0]", "dp_ucb needs width"]),
        ({"grid": {"K": 5, "epsilom": 0.1, "epsilon": 1}}, ["studies.s.grid.epsilom", "epsilon"]),
        (
            {"policies": [{"policy": "dp_se", "grid": {"foo": 1}}]},
            ["studies.s.policies[0].grid.foo", "unknown parameter"],
        ),
        ({"horizon": 4}, ["studies.s.horizon", "number of arms, K = 5", "found 4"]),
        (
            {"horizon": None, "grid": {"K": 5}, "policies": [{"policy": "ucb1"}]},
            ["studies.s: the key 'horizon' is missing"],
        ),
        ({"policies": [{"policy": "dp_se"}], "grid": {"epsilon": 1}}, ["dp_se needs K; add the values here"]),
        ({"environment": {"name": "bernoulli", "top": 0.75}}, ["studies.s", "environment bernoulli needs bottom"]),
    ],
)
def test_faults_name_the_file_the_key_and_what_was_expected(changes, words):
    with pytest.raises(PrivarmsError) as fault:
        cells(**changes)
    for word in ["config/papers/p/studies.yaml", *words]:
        assert word in str(fault.value)


def on_data(**changes):
    return study(
        protocol="locally_private",
        environment={"name": "labelled_users"},
        grid=[{"dataset": "adult", "horizon": 100}, {"dataset": ["jobs", "taxi"], "horizon": 90}],
        policies=[{"policy": "ldp_linear", "epsilon": [1, 2]}],
        checkpoints={"count": 2, "first": 100, "quarters": True},
        **changes,
    )


def test_what_an_environment_of_data_tells_need_not_be_given():
    actual = expand("f", "p", "s", Study.model_validate(on_data()))
    assert [(c.dataset, c.horizon, c.policy_parameters["epsilon"]) for c in actual] == [
        (dataset, horizon, epsilon)
        for dataset, horizon in (("adult", 100), ("jobs", 90), ("taxi", 90))
        for epsilon in (1, 2)
    ]
    assert all("K" not in c.parameters for c in actual)
    # The quarters of a horizon are checkpoints.
    assert [c.checkpoints.tolist() for c in actual[::2]] == [[25, 50, 75, 100], [22, 45, 67, 90], [22, 45, 67, 90]]


def test_a_grid_may_have_a_name_and_a_cell_stands_in_every_grid_that_has_it():
    grids = [{"panel": "a", "K": 5, "epsilon": [1, 2]}, {"panel": ["b", "c"], "K": 5, "epsilon": [2, 3]}]
    actual = cells(grid=grids, policies=[{"policy": "dp_se"}])
    assert [(c.parameters["epsilon"], c.panels) for c in actual] == [(1, "a"), (2, "a b c"), (3, "b c")]
    # The grid's name is not a parameter and not part of random streams or shards.
    plain = cells(grid=[{k: v for k, v in g.items() if k != "panel"} for g in grids], policies=[{"policy": "dp_se"}])
    assert [c.identity for c in actual] == [c.identity for c in plain]
    assert [c.parameters for c in actual] == [c.parameters for c in plain]
    assert [replace(c, panels="") for c in actual] == plain


def deviating(**changes):
    return cells(
        protocol="locally_private",
        environment={"name": "exponential"},
        grid={"K": 3, "epsilon": 1},
        policies=[{"policy": "ldp_mab", "variant": "as_released", **changes}],
    )[0]


def test_a_deviation_is_hashed_as_what_it_sets():
    one = deviating(deviation="logarithm offset")
    as_given = replace(one, policy_parameters={"K": 3, "horizon": 1000, "epsilon": 1, "variant": "as_released",
                                               "logarithm": "natural", "offset": 0.0})  # fmt: skip
    assert one.identity == as_given.identity == deviating(deviation="offset logarithm").identity
    assert one.identity != deviating(deviation="offset").identity != deviating().identity
    assert deviating(deviation="batch").identity == deviating(batch=1).identity != deviating(batch=2).identity
    printed = deviating(deviation="batch", variant="as_printed")
    assert printed.identity == deviating(batch=100, variant="as_printed").identity


# Digests of cells before their parameters were renamed: published results came from these streams.
STREAMED = [
    (
        ("sajed2019", "audit", "dp_se", "neighbouring_streams", 50_000_000),
        {"K": 20, "horizon": 50_000_000, "epsilon": 1, "noise": 0.5},
        {"K": 20, "horizon": 50_000_000, "epsilon": 1, "neighbour": 1},
        "adbffbd728a45867a564a9b57c2fae38",
    ),
    (
        ("li2024", "audit", "dp_conse", "neighbouring_experiments", 30_000_000),
        {"M": 10, "horizon": 30_000_000, "alpha": 0.5, "epsilon": 2},
        {"release": "lengths_from_actions", "neighbour": 1},
        "fc8da48ae22e294c05a6751e195b94df",
    ),
    (
        ("ma2025", "privacy", "ldp_mab", "neighbouring_users", 10_000),
        {"K": 2, "horizon": 10_000, "epsilon": 8, "variant": "as_released", "M": 0, "batch": 100},
        {"K": 2, "differ": "context", "event": "untouched", "neighbour": 1, "batch": 100},
        "1209631c696a7c3f78d66106afdc8ee4",
    ),
    (
        ("neel2018", "audit", "private_ucb", "changed_reward", 501),
        {"K": 2, "horizon": 501, "epsilon": 0.05, "variant": "as_printed"},
        {"K": 2, "neighbour": 0},
        "f500cca5d5c5be1bca95a4bbf2fabcca",
    ),
    (
        ("neel2018", "linear", "private_linear_ucb", "linear", 500),
        {"K": 5, "dimensions": 5, "horizon": 500, "epsilon": 1, "bonus": True},
        {"K": 5, "dimensions": 5, "variant": "as_printed"},
        "d2d68ccfdf222b758030506a5c1fbe70",
    ),
    # This repair was a parameter in earlier versions.
    (
        ("some2020", "runs", "dp_conse_total", "features_bernoulli", 20_000),
        {"M": 2, "horizon": 20_000, "alpha": 0.5, "epsilon": 1, "budget": "total"},
        {"M": 2, "horizon": 20_000},
        "1ea681f1ceb617c2d9a7ac2dc4ff704c",
    ),
]


@pytest.mark.parametrize(("names", "own", "others", "identity"), STREAMED)
def test_what_was_renamed_keeps_its_stream(names, own, others, identity):
    paper, name, policy, environment, horizon = names
    cell = Cell(paper, name, "p", policy, environment, horizon, own, others, 1, 1)
    assert cell.identity == identity
    # Results have the new names, and the variant of the policy or, without one, of the environment.
    assert set(cell.parameters) == {*own, *others} - {"horizon", "variant"}
    assert cell.variant == own.get("variant", others.get("variant", ""))


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"grid": {"K": 10.5, "epsilon": 1}}, "grid.K"),
        ({"grid": {"K": 5, "epsilon": 1, "horizon": 10.5}}, "grid.horizon"),
        ({"policies": [{"policy": "ucb1", "horizon": 10.5}]}, r"policies\[0\].horizon"),
        ({"environment": {"name": "bernoulli", "top": 0.75, "bottom": 0.25, "horizon": 10.5}}, "environment.horizon"),
    ],
)
def test_arms_and_rounds_are_whole_wherever_they_are_given(changes, key):
    with pytest.raises(PrivarmsError, match=f"{key}: expected an integer; found 10.5"):
        cells(**changes)


def test_an_audit_has_both_neighbours():
    audit = {"protocol": None, "environment": None, "audit": "changed_reward", "horizon": 51}
    policies = [{"policy": "private_ucb", "variant": "as_printed"}]
    both = {"K": 2, "epsilon": 1, "neighbour": [0, 1]}
    assert len(cells(**audit, grid=both, policies=policies)) == 2
    for wrong, message in ((0, r"expected \[0, 1\], both inputs"), ([0, 2], "expected one of 0, 1; found 2")):
        with pytest.raises(PrivarmsError, match=rf"neighbour: {message}"):
            cells(**audit, grid=both | {"neighbour": wrong}, policies=policies)


def with_table(tmp_path, text, scale="paper", **only):
    (tmp_path / "grid.csv").write_text(text)
    entry = study(grid={"table": "grid.csv", **only})
    entry = grids.filled(entry, tmp_path / "studies.yaml", scale)
    return expand("studies.yaml", "p", "s", Study.model_validate(entry))


TABLE = "panel,K,horizon,horizon_quick,epsilon\na|b,5,100|200,50,0.1|1\nc,3,300,60,1\n"


def test_a_row_of_a_table_is_a_grid_and_a_scale_may_have_columns_of_its_own(tmp_path):
    got = with_table(tmp_path, TABLE)
    rows = [{"panel": ["a", "b"], "K": 5, "horizon": [100, 200], "epsilon": [0.1, 1]}]
    rows += [{"panel": "c", "K": 3, "horizon": 300, "epsilon": 1}]
    assert got == cells(grid=rows)
    assert {c.horizon for c in with_table(tmp_path, TABLE, "quick")} == {50, 60}
    assert with_table(tmp_path, TABLE, only=["c"]) == cells(grid=rows[1:])


@pytest.mark.parametrize(
    ("text", "only", "words"),
    [
        ("K,epsilon,widht\n5,1,chan\n", {}, "grid.csv: line 2, column widht: unknown parameter of this study"),
        ("K,epsilon\n5,1\n5,\n", {}, "grid.csv: line 3, column epsilon: expected a value.* found none"),
        ("K,epsilon\n5\n", {}, "grid.csv: line 2: found 1 fields, expected 2"),
        ("K,epsilon\nfive,1\n", {}, "grid.csv: line 2: K: expected an integer; found 'five'"),
        ("", {}, "grid.csv: is empty. Expected a header line"),
        (TABLE, {"only": ["d"]}, "grid.only: expected panels of .*grid.csv; found 'd'"),
        (TABLE, {"rows": 3}, "grid: rows: unknown key; expected one of only, table"),
    ],
)
def test_a_malformed_table_is_one_clear_error(tmp_path, text, only, words):
    with pytest.raises(PrivarmsError, match=words):
        with_table(tmp_path, text, **only)
