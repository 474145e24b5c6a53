"""Show times per round in the tables of pytest-benchmark."""


def pytest_benchmark_scale_unit(config, unit, benchmarks, best, worst, sort):
    """Return the prefix of the unit and the factor from seconds; pytest-benchmark adds an "s" to the prefix.

    A table has one benchmark, from this run and from the saved run.
    """
    if unit != "seconds":
        return "", 1.0
    rounds = benchmarks[0]["extra_info"]["rounds"]
    return f"ns per round; {rounds:,} round", 1e9 / rounds
