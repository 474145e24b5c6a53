"""Check that ranks have ties where the runs do not show which policy is better."""

import numpy as np

from privarms.cli import ranks


def ranked(most=1000.0, instances=1, **runs):
    table = ranks.ranked({name: np.asarray(some, float) for name, some in runs.items()}, "a", most, instances)
    return table.set_index("policy")


def test_policies_whose_regret_differs_clearly_have_whole_ranks():
    noise = np.random.default_rng(1).normal(0, 1, (3, 20))
    table = ranked(a=20 + noise[0], b=10 + noise[1], c=30 + noise[2])
    assert table["rank"].to_dict() == {"b": 1, "a": 2, "c": 3}
    assert not table["tied"].any()
    assert table.loc["b", "difference_low"] < -10 < table.loc["b", "difference_high"] < 0
    assert (table.loc["a", "difference_low"], table.loc["a", "difference_high"]) == (0, 0)


def test_policies_that_the_runs_do_not_tell_apart_share_their_ranks():
    noise = np.random.default_rng(1).normal(0, 1, (4, 20))
    table = ranked(a=10 + noise[0], b=10.2 + noise[1], c=30 + noise[2], d=90 + noise[3])
    assert table["rank"].to_dict() == {"a": 1.5, "b": 1.5, "c": 3, "d": 4}
    assert (table.loc["a", "tied"], table.loc["b", "tied"], table.loc["c", "tied"]) == ("b", "a", "")


def test_equal_policies_are_ordered_in_at_most_one_of_twenty_tables():
    rng = np.random.default_rng(1)
    tables = [ranked(**dict(zip("abcdef", rng.gamma(4, 10, (6, 20)), strict=True))) for _ in range(400)]
    assert sum((table["rank"] != 3.5).any() for table in tables) <= 0.05 * 400 + 2 * np.sqrt(0.05 * 0.95 * 400)


def test_runs_that_all_agree_may_hide_a_rare_bad_one():
    usual = np.random.default_rng(1).normal(148, 20, 2000)
    few = ranked(most=5000, a=usual[:20], lucky=np.full(20, 31))
    assert few["rank"].tolist() == [1.5, 1.5]
    assert few.loc["lucky", "low"] < 31 < few.loc["lucky", "high"]
    many = ranked(most=5000, a=usual, lucky=np.full(2000, 31))
    assert many["rank"].to_dict() == {"lucky": 1, "a": 2}


def test_more_instances_make_more_ties():
    noise = np.random.default_rng(1).normal(0, 1, (2, 20))
    shift = 10 + noise[1].mean() - noise[0].mean()
    one, many = (ranked(instances=n, a=shift + noise[0], b=11.3 + noise[1]) for n in (1, 1000))
    assert (one["rank"].tolist(), many["rank"].tolist()) == ([1, 2], [1.5, 1.5])
