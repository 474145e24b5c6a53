"""Shards become a study and its summaries, whatever the shards' size; what does not fit is refused."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privarms.errors import PrivarmsError
from privarms.studies import aggregate, run, shards, store
from privarms.studies.cells import expand

STUDY = {
    "protocol": "bandit",
    "environment": {"name": "bernoulli", "top": 0.75, "bottom": 0.25},
    "horizon": 60,
    "replicates": 7,
    "block": 2,
    "checkpoints": {"count": 3, "first": 6},
    "grid": {"K": [2, 3], "epsilon": 0.5},
    "policies": [{"policy": "dp_se"}, {"policy": "uniform"}],
}
CELLS = expand("f.yaml", "p", "s", STUDY)


def run_study(folder, seconds):
    paths = []
    for shard in shards.plan(CELLS, seconds):
        path = folder / f"{shard.name}.parquet"
        store.write(path, run.run_shard(list(shard.pieces), 1, {}), {"seed": 1})
        paths.append(path)
    return paths


def joined(folder, paths):
    study, cells = folder / "study.parquet", folder / "cells.parquet"
    aggregate.aggregate(paths, CELLS, {}, {"paper": "p", "study": "s", "seed": 1}, study, cells)
    return study, cells


def test_another_shard_size_gives_the_same_bytes(tmp_path):
    found = []
    for seconds in (1e-9, 1e6):
        folder = tmp_path / str(seconds)
        folder.mkdir()
        paths = run_study(folder, seconds)
        found.append((len(paths), [p.read_bytes() for p in joined(folder, paths)]))
    assert [n for n, _ in found] == [16, 2]
    assert found[0][1] == found[1][1]


def test_rows_carry_parameters_and_a_summary_s_numbers_are_those_of_the_rows(tmp_path):
    study, cells = (store.read(p).to_pandas() for p in joined(tmp_path, run_study(tmp_path, 1)))
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
    origin = store.metadata(study)
    assert origin["seed"] == 1
    assert origin["versions"]["numpy"] == np.__version__
    assert origin["cells"][0]["policy_parameters"] == {"K": 2, "horizon": 60, "epsilon": 0.5}
    assert "revision" in origin


def test_missing_values_are_counted_and_left_out():
    rows = pd.DataFrame({"replicate": [0, 1, 2], "x": [1.0, np.nan, 3.0]})
    summary = aggregate.summarise(rows, [])
    assert summary.loc[0, ["replicates", "x_mean", "x_missing"]].tolist() == [3, 2.0, 1]


def test_a_single_run_has_no_standard_error():
    summary = aggregate.summarise(pd.DataFrame({"replicate": [0], "x": [4.0]}), [])
    assert summary.loc[0, "x_mean"] == 4
    assert np.isnan(summary.loc[0, "x_se"])


def test_a_shard_that_is_missing_or_stands_twice_is_refused(tmp_path):
    paths = run_study(tmp_path, 1e-9)
    for wrong in (paths[:-1], paths[:-4], paths[:2] + paths[3:], [paths[0], *paths], [*paths, paths[-1]]):
        with pytest.raises(PrivarmsError, match="run again"):
            joined(tmp_path, wrong)


def test_a_truncated_shard_is_refused_by_name(tmp_path):
    paths = run_study(tmp_path, 1e6)
    content = paths[1].read_bytes()
    paths[1].write_bytes(content[: len(content) // 2])
    with pytest.raises(PrivarmsError, match=rf"{paths[1].name}.*delete it and run again"):
        joined(tmp_path, paths)


def test_a_flipped_bit_in_the_data_is_found_wherever_it_is(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"x": np.random.default_rng(1).random(200)})
    store.write(path, [table], {})
    content = path.read_bytes()
    unseen = []
    # The pages lie between the magic bytes and the footer, whose length stands before the closing magic bytes.
    pages = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for place in range(100, pages, 37):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        try:
            unseen += [place] if store.read(path).equals(table) is False else []
        except PrivarmsError:
            continue
    assert pages > 1000
    assert unseen == []


def test_nothing_is_left_behind_when_writing_fails(tmp_path):
    table = pa.table({"x": [1]})

    def tables():
        yield table
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        store.write(tmp_path / "a.parquet", tables(), {})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(PrivarmsError, match=r"file/a\.parquet: cannot be written"):
        store.write(tmp_path / "file" / "a.parquet", [pa.table({"x": [1]})], {})
