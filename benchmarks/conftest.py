"""Times per round in the tables of pytest-benchmark."""


def pytest_benchmark_scale_unit(config, unit, benchmarks, best, worst, sort):
    """Return the unit's prefix, to which pytest-benchmark adds an "s", and the factor from seconds.

    A table holds one benchmark, now and in the saved run.
    """
    if unit != "seconds":
        return "", 1.0
    rounds = benchmarks[0]["extra_info"]["rounds"]
    return f"ns per round; {rounds:,} round", 1e9 / rounds
