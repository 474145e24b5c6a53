"""Figures on tables to which every axis has gained a value, and every study a policy."""

import itertools
import math
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.colors import to_hex

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


def looks(ax):
    """What the labelled lines of a panel look like: label -> colour, marker, dashes."""
    handles, labels = ax.get_legend_handles_labels()
    lines = [h.lines[0] if hasattr(h, "lines") else h for h in handles]
    # The dashes as given: `get_linestyle` tells "--" for all of them.
    found = ((to_hex(x.get_color()), x.get_marker(), str(x._unscaled_dash_pattern)) for x in lines)
    return dict(zip(labels, found, strict=True))


def entries(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_every_figure_is_tested():
    assert set(TABLES) == set(FIGURES)


@pytest.mark.parametrize("name", [name for name, needed in TABLES.items() if needed])
def test_no_two_curves_of_a_panel_look_alike_and_all_are_in_the_legend(drawn, name):
    figure, _ = drawn[name]
    for ax in figure.axes:
        found = looks(ax)
        assert set(found) <= set(entries(figure))
        assert len(set(found.values())) == len(found)


@pytest.mark.parametrize("name", ["pareto_empirical", "elimination", "product"])
def test_what_joins_a_study_has_an_entry_of_its_own(drawn, name):
    found = entries(drawn[name][0])
    for text in (LABEL, "DP-ConSE, $\\varepsilon = 5$", "DP-ConSE (noise = 2), $\\varepsilon = 1$"):
        assert any(entry.startswith(text) for entry in found), text


def test_the_published_algorithms_keep_their_colours(drawn):
    panel = looks(drawn["elimination"][0].axes[0])
    colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
    names = ["ConSE (SE)", "ConSE (EXP3E)", *(f"DP-ConSE, $\\varepsilon = {e}$" for e in ("0.1", "0.5", "1", "2"))]
    assert tuple(panel[name][0] for name in names) == colours


def test_panels_come_from_the_data(drawn):
    def titles(name):
        return [ax.get_title("left") or ax.get_title() for ax in drawn[name][0].axes]

    assert titles("elimination") == ["M = 1", "M = 5", "M = 10"]
    assert titles("product") == ["n = 20,000", "n = 1,000,000", "n = 7,000,000"]
    assert len(titles("pareto_empirical")) == 9
    assert titles("audit") == ["lengths of the trials", "estimates", "mine"]
    assert [t for t in titles("privacy_cost") if t] == ["M = 2", "M = 2", "M = 20", "M = 20"]
    assert f"{LABEL}, M = 4" in titles("coverage_intervals")
    for name in (LABEL, "DP-ConSE (noise = 2), $\\varepsilon = 1$"):
        assert any(t.startswith(name) for t in titles("normality"))


def test_a_policy_without_alpha_is_a_level_line(drawn):
    handles, labels = drawn["product"][0].axes[0].get_legend_handles_labels()
    level = next(h for h, label in zip(handles, labels, strict=True) if label.startswith(LABEL))
    assert list(level.get_xdata()) == [0.0, 1.0]


def test_one_value_an_axis_is_enough():
    for name in ("pareto_empirical", "product"):
        alone = pareto(ALGORITHMS[:1], Ms=(1,), ns=(20_000,))
        figure, numbers = FIGURES[name](Tables(pareto=alone))
        assert len(figure.axes) == 1
        assert len(numbers) == len(alone)


def test_half_of_the_variance_covers_83_per_cent():
    assert pytest.approx(0.8342, abs=5e-5) == HALF_VARIANCE


def test_figures_import_no_kernels():
    files = {Path(f).relative_to(library.ROOT) for f in library.sources("artifacts.li2024.figures")}
    assert not {f for f in files if f.parts[0] in ("policies", "environments", "mechanisms", "protocols")}
    files = {Path(f).relative_to(library.ROOT) for f in library.sources("artifacts.li2024.claims")}
    assert not {f for f in files if f.name in ("figures.py", "tables.py", "style.py") and "li2024" in f.parts}
    assert Path("artifacts/style.py") not in files
