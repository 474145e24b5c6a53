"""Check that shards of any size give the same study and summaries, and that wrong shards are refused."""

import numpy as np
import pandas as pd
import pytest

from privarms.errors import PrivarmsError
from privarms.execution import aggregate, run
from privarms.files import parquet
from privarms.planning import shards
from privarms.planning.cells import expand
from privarms.planning.studies import Study

CONTENT = {
    "protocol": "bandit",
    "environment": {"name": "bernoulli", "top": 0.75, "bottom": 0.25},
    "horizon": 60,
    "replicates": 7,
    "block": 2,
    "checkpoints": {"count": 3, "first": 6},
    "grid": {"K": [2, 3], "epsilon": 0.5},
    "policies": [{"policy": "dp_se"}, {"policy": "uniform"}],
}
STUDY = Study.model_validate(CONTENT)
CELLS = expand("f.yaml", "p", "s", STUDY)


def run_study(folder, seconds, cells=CELLS):
    """Write the shards and return their files."""
    planned = shards.plan(cells, seconds)
    paths = [folder / f"{shard.name}.parquet" for shard in planned]
    for path, shard in zip(paths, planned, strict=True):
        parquet.write(path, run.run_shard(shard.pieces, 1, {}), {"seed": 1})
    return paths


def joined(folder, paths, cells=CELLS):
    study, summary = folder / "study.parquet", folder / "cells.parquet"
    aggregate.aggregate(paths, cells, {}, {"paper": "p", "study": "s", "seed": 1}, study, summary)
    return study, summary


def test_another_shard_size_gives_the_same_bytes(tmp_path):
    actual = []
    for seconds in (1e-9, 1e6):
        folder = tmp_path / str(seconds)
        folder.mkdir()
        made = run_study(folder, seconds)
        actual.append((len(made), [p.read_bytes() for p in joined(folder, made)]))
    assert [n for n, _ in actual] == [16, 2]
    assert actual[0][1] == actual[1][1]


def test_rows_carry_parameters_and_a_summary_s_numbers_are_those_of_the_rows(tmp_path):
    study, cells = (parquet.read(p).to_pandas() for p in joined(tmp_path, run_study(tmp_path, 1)))
    assert len(study) == len(CELLS) * 7 * 3
    assert len(cells) == len(CELLS) * 3
    assert study.loc[study["policy"] == "uniform", "epsilon"].isna().all()
    some = study[(study["policy"] == "uniform") & (study["K"] == 3) & (study["t"] == 60)]
    row = cells[(cells["policy"] == "uniform") & (cells["K"] == 3) & (cells["t"] == 60)].iloc[0]
    assert list(some["replicate"]) == list(range(7))
    regret = some["regret"].to_numpy()
    assert len(set(regret)) > 1
    assert row["replicates"] == 7
    assert row["regret_mean"] == pytest.approx(sum(regret) / 7, rel=1e-14)
    assert row["regret_se"] == pytest.approx(np.sqrt(sum((regret - sum(regret) / 7) ** 2) / 6 / 7), rel=1e-12)
    assert row["regret_p50"] == sorted(regret)[3]


def test_the_files_say_where_they_come_from(tmp_path):
    study, _ = joined(tmp_path, run_study(tmp_path, 1))
    origin = parquet.metadata(study)
    assert origin["seed"] == 1
    assert origin["versions"]["numpy"] == np.__version__
    assert origin["cells"][0]["policy_parameters"] == {"K": 2, "horizon": 60, "epsilon": 0.5}
    assert "revision" in origin


def summary_of(rows, keys=()):
    columns = {name: rows[name].to_numpy() for name in rows}
    groups = aggregate.group(columns.pop("replicate"), {key: columns.pop(key) for key in keys})
    return pd.DataFrame(aggregate.summarise(keys, groups, columns.items()))


def test_a_summary_is_to_the_bit_what_numpy_makes_of_each_group():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"arm": rng.integers(3, size=10_000), "replicate": 0, "x": rng.random(10_000)})
    rows = rows.assign(y=np.arange(10_000)[::-1], name=rng.choice(["b", "a"], 10_000))
    actual = summary_of(rows, ["name", "arm"])
    assert list(zip(actual["name"], actual["arm"], strict=True)) == [(n, a) for n in "ab" for a in range(3)]
    for row in actual.to_dict("records"):
        group = rows[(rows["name"] == row["name"]) & (rows["arm"] == row["arm"])]
        assert row["replicates"] == len(group)
        for measure in ("x", "y"):
            sample = group[measure].to_numpy(float)
            assert row[f"{measure}_mean"] == sample.mean()
            assert row[f"{measure}_se"] == sample.std(ddof=1) / np.sqrt(len(sample))
            levels = np.quantile(sample, list(aggregate.QUANTILES.values()))
            assert [row[f"{measure}_{name}"] for name in aggregate.QUANTILES] == list(levels)


@pytest.mark.parametrize("part", [1, 2, 7, 30])
def test_cells_longer_than_a_part_have_the_same_summary(part, monkeypatch):
    rows = pd.DataFrame({"replicate": np.arange(10), "value": np.arange(10) ** 2.0})
    whole = summary_of(rows)
    monkeypatch.setattr(aggregate, "PART", part)
    pd.testing.assert_frame_equal(summary_of(rows), whole, check_exact=True)


def test_missing_values_are_counted_and_left_out_and_a_single_run_has_no_standard_error():
    rows = pd.DataFrame({"arm": [0, 0, 0, 1], "replicate": [0, 1, 2, 0], "x": [1.0, np.nan, 3.0, 4.0]})
    summary = summary_of(rows, ["arm"])
    assert summary.loc[0, ["replicates", "x_mean", "x_missing"]].tolist() == [3, 2.0, 1]
    assert summary.loc[1, "x_mean"] == 4
    assert np.isnan(summary.loc[1, "x_se"])


def test_blocks_that_are_missing_or_stand_twice_are_refused(tmp_path):
    first, second, *rest = run_study(tmp_path, 1e-9)
    for wrong in ([first, *rest], [second, *rest], [first, second, first, *rest], [second, first, *rest], rest[2:]):
        with pytest.raises(PrivarmsError, match="run again"):
            joined(tmp_path, wrong)


def test_a_study_is_found_among_the_rows_of_others(tmp_path):
    others = expand("f.yaml", "p", "t", STUDY)
    mixed = [cell for pair in zip(others, CELLS, strict=True) for cell in pair]
    paths = run_study(tmp_path, 1e6, mixed)
    assert len(paths) == 2
    (tmp_path / "alone").mkdir()
    alone = joined(tmp_path / "alone", run_study(tmp_path / "alone", 1e6))
    together = joined(tmp_path, paths)
    assert [p.read_bytes() for p in together] == [p.read_bytes() for p in alone]


def test_the_largest_share_of_one_run_in_the_mean_regret(tmp_path):
    study, summary = joined(tmp_path, run_study(tmp_path, 1))
    runs, cells = (parquet.read(path).to_pandas() for path in (study, summary))
    regret = runs.groupby(["cell", "t"], sort=False, observed=True)["regret"]
    assert cells["regret_largest_share"].to_numpy() == pytest.approx((regret.max() / regret.sum()).to_numpy())
