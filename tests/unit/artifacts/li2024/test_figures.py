"""Figures on tables to which every axis has gained a value, and every study a policy."""

import itertools
import math
from pathlib import Path

import pandas as pd
import pytest

from privarms.artifacts.li2024.figures import FIGURES, HALF_VARIANCE
from privarms.studies import library, paths

from .tables import COVERAGE, ELIMINATION, PARETO, Tables, table

NAN = math.nan
ALGORITHMS = [("conse_se", NAN), ("conse_exp3e", NAN), *(("dp_conse", e) for e in (0.1, 0.5, 1.0, 2.0))]
# Two budgets, a policy without alpha, and a reading of DP-ConSE that the paper does not have.
JOINED = [("dp_conse", 5.0), ("dp_conse", 7.0), ("ucb1", NAN)]
OTHER = {"noise": 2.0}
LABEL = library.attributes("policies", "ucb1")["LABEL"]
PUBLISHED_FILES = paths.published("config/published", "li2024")


def grid(usual, algorithms, **axes):
    """A row a point of the axes and algorithm, and the reading with other noise at epsilon 1."""
    rows = []
    for point in itertools.product(*axes.values()):
        at = dict(zip(axes, point, strict=True))
        rows += [table(usual, policy=p, epsilon=e, noise=NAN, **at) for p, e in algorithms]
        rows.append(table(usual, policy="dp_conse", epsilon=1.0, **OTHER, **at))
    found = pd.concat(rows, ignore_index=True)
    found.loc[found["policy"] == "ucb1", "alpha"] = NAN
    return found.drop_duplicates(ignore_index=True)


def pareto(algorithms=(*ALGORITHMS, *JOINED), Ms=(1, 2, 20), ns=(20_000, 1_000_000, 7_000_000)):
    return grid(PARETO, algorithms, M=Ms, horizon=ns, alpha=(0.0, 0.15, 1.0))


def cost():
    cells = pareto([a for a in (*ALGORITHMS, *JOINED) if not math.isnan(a[1])], Ms=(1, 2, 20))
    usual = {"noise_ratio": 1.5, "noise_ratio_se": 0.1, "regret_ratio": 1.2, "regret_ratio_se": 0.01, "eps2_T": 10.0}
    return cells.assign(**usual)


def elimination():
    return grid(ELIMINATION, (*ALGORITHMS, *JOINED), M=(1, 5, 10), horizon=(2_000, 20_000, 70_000))


def coverage():
    algorithms = [*ALGORITHMS[:1], ("dp_conse", 0.1), ("dp_conse", 1.0), *JOINED]
    intervals = {"interval": ("printed", "corrected", "corrected_laplace")}
    sizes = {"M": (1, 2, 4), "horizon": (20_000, 1_000_000, 7_000_000)}
    return grid(COVERAGE, algorithms, **sizes, alpha=(0.1, 0.4), **intervals)


def normality():
    cells = coverage()
    cells = cells[cells["M"].isin([1, 4]) & cells["alpha"].isin([0.4, NAN])]
    return pd.concat([cells.assign(normal=x, measured=1.5 * x) for x in (-1.0, 1.0)], ignore_index=True)


def audit():
    usual = {"exact": 0.5, "lower_bound": 0.4, "confidence": 0.95, "trials": 100}
    points = itertools.product(("lengths", "estimate", "mine"), (1, 2, 20), (0.5, 1.0, 2.0, 4.0))
    return pd.concat([table(usual, release=r, M=M, epsilon=e, claimed=e / 2) for r, M, e in points], ignore_index=True)


TABLES = {
    "fig1": {},
    "fig2": {},
    "fig3": {},
    "pareto_empirical": {"pareto": pareto},
    "privacy_cost": {"privacy_cost": cost},
    "elimination": {"elimination": elimination},
    "normality": {"normality": normality},
    "coverage_intervals": {"coverage": coverage},
    "audit": {"audit": audit},
    "product": {"pareto": pareto},
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """name -> figure and numbers, each drawn once."""
    folder = tmp_path_factory.mktemp("tables")
    found = {}
    for name, needed in TABLES.items():
        frames = {k: make() for k, make in needed.items()}
        found[name] = FIGURES[name](Tables.written(folder / name, published=PUBLISHED_FILES, **frames))
    return found


def test_half_of_the_variance_covers_83_per_cent():
    assert pytest.approx(0.8342, abs=5e-5) == HALF_VARIANCE


def test_figures_import_no_kernels():
    files = {Path(f).relative_to(library.ROOT) for f in library.sources("artifacts.li2024.figures")}
    assert not {f for f in files if f.parts[0] in ("policies", "environments", "mechanisms", "protocols")}
    files = {Path(f).relative_to(library.ROOT) for f in library.sources("artifacts.li2024.claims")}
    assert not {f for f in files if f.name in ("figures.py", "tables.py", "style.py") and "li2024" in f.parts}
    assert Path("artifacts/style.py") not in files
