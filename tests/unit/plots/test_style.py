"""Check the shared figure style, and the files of figures and tables."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from privarms.errors import PrivarmsError
from privarms.plots import facets, style, tables

pytestmark = pytest.mark.usefixtures("styled")

COMBINATIONS = len(style.COLOURS) * len(style.MARKERS) * len(style.LINESTYLES)
FIXED = ("dp_se", "dp_ucb", "uniform")
NUMBERS = pd.DataFrame({"t": [1, 2, 3], "mean": [0.1, 0.1 + 0.2, np.nan], "policy": ["a", "b", "c, d"]})


def draw():
    figure, ax = style.subplots(width=3.4, height=2.4)
    looks = style.looks(["dp_se", "anything"])
    x = np.geomspace(1, 1e6, 50)
    for power, name in ((1, "dp_se"), (2, "anything")):
        mean = np.log(x + 1) ** power
        rows = pd.DataFrame({"x": x, "mean": mean, "low": 0.8 * mean, "high": 1.2 * mean})
        facets.band(ax, rows, "x", "mean", label=name, **looks[name])
    style.published(ax, 50.0, "published")
    style.published(ax, 1e3, "bound", axis="x")
    ax.set(xscale="log", xlabel="$t$", ylabel=r"regret, $\varepsilon = 0.5$", title="A title")
    ax.legend()
    return figure


def pixels(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba()).copy()


def test_save_gives_the_same_bytes_at_another_time_and_with_other_settings(tmp_path, monkeypatch):
    figure = draw()
    # Matplotlib writes the date in this variable.
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    first = style.save(figure, NUMBERS, tmp_path / "first" / "fig1a")
    assert sorted(first) == ["csv", "pdf", "png", "svg"]
    assert set((tmp_path / "first").iterdir()) == set(first.values())
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    other = draw()
    # A user's matplotlibrc may contain these.
    matplotlib.rcParams.update({"svg.hashsalt": None, "savefig.dpi": 50, "pdf.fonttype": 3, "savefig.bbox": "tight"})
    again = style.save(other, NUMBERS, tmp_path / "again" / "fig1a")
    for suffix in first:
        assert first[suffix].read_bytes() == again[suffix].read_bytes() != b"", suffix


def test_a_figure_that_cannot_be_written_leaves_nothing(tmp_path):
    unwritable = pd.DataFrame({"text": ["\ud800"]}, dtype=object)  # half a character has no bytes
    with pytest.raises(UnicodeEncodeError):
        style.save(draw(), unwritable, tmp_path / "fig")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(PrivarmsError, match=r"file/fig\.(pdf|csv)"):
        style.save(draw(), NUMBERS, tmp_path / "file" / "fig")


def test_numbers_read_back_exactly(tmp_path):
    values = np.array([np.nan, np.inf, -0.0, 5e-324, 0.1 + 0.2, 1 / 3, 1e300])
    tables.write_csv(pd.DataFrame({"value": values, "count": range(7), "name": "a"}), tmp_path / "t.csv")
    header, first, *rows = (tmp_path / "t.csv").read_text().splitlines()
    assert (header, first) == ("value,count,name", ",0,a")
    read = np.array([float(row.split(",")[0]) for row in rows])
    np.testing.assert_array_equal(read.view(np.int64), values[1:].view(np.int64))


def test_watermark_draws_the_words_across_the_figure(tmp_path):
    figure = draw()
    plain = pixels(figure)
    style.watermark(figure)
    changed = np.argwhere((plain != pixels(figure)).any(axis=2))
    height, width = plain.shape[:2]
    spread = (changed.max(axis=0) - changed.min(axis=0)) / (height, width)
    assert (spread > 0.5).all(), "across the figure, not in a corner"
    box = figure.texts[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= width, "whole words"
    assert 0 <= box.y0 < box.y1 <= height
    assert "<!-- synthetic stand-in -->" in style.save(figure, NUMBERS, tmp_path / "f")["svg"].read_text()


def alike(looks):
    return {tuple(look[key] for key in ("color", "linestyle", "marker")) for look in looks.values()}


def test_no_two_names_look_alike_as_long_as_combinations_last():
    names = [f"policy_{number}" for number in range(COMBINATIONS - len(FIXED))] + list(FIXED)
    looks = style.looks(names, fixed=FIXED)
    assert len(alike(looks)) == len(names) == COMBINATIONS == 252
    first = names[: len(style.COLOURS)]
    assert len({looks[name]["marker"] for name in first}) == len(first)
    assert style.looks([*names, "one too many"])["one too many"]["color"] in style.COLOURS


def test_a_fixed_name_looks_the_same_whichever_others_a_figure_has():
    looks = style.looks(["joined", "dp_ucb"], fixed=("dp_se", "dp_ucb"))
    assert looks["dp_ucb"] == style.looks(["dp_se", "dp_ucb"])["dp_ucb"]
    assert looks["joined"] == style.looks(["dp_se"])["dp_se"]


def test_a_legend_says_how_many_entries_it_leaves_out():
    figure, ax = style.subplots(width=3.4, height=2.4)
    for number in range(style.MOST_ENTRIES + 5):
        ax.plot([1, 2], [1, number], label=f"{number:08d}")
    drawn = style.legend(figure)
    assert drawn.get_texts()[-1].get_text() == "and 5 more, in the CSV file"
    assert len(drawn.get_texts()) == style.MOST_ENTRIES + 1


FRAME = pd.DataFrame({"name_of": ["a|b_c", "50% & more"], "mean": [1 / 3, np.nan], "rounds": [50_000_000, 3]})


def test_tables_are_escaped_for_each_reader(tmp_path):
    paths = tables.write_table(FRAME, tmp_path / "t")
    header, _, first, second = paths["md"].read_text().splitlines()
    assert [cell.strip() for cell in header.strip("|").split("|")] == ["name_of", "mean", "rounds"]
    assert first.startswith("| a\\|b_c ")
    assert "0.333333 | 50000000 |" in first
    assert [cell.strip() for cell in second.strip("|").split("|")] == ["50% & more", "", "3"]
    latex = paths["tex"].read_text()
    assert r"name\_of & mean & rounds \\" in latex
    assert r"a|b\_c & 0.333333 & 50000000 \\" in latex
    assert r"50\% \& more &  & 3 \\" in latex
    assert r"\begin{tabular}{lrr}" in latex
    assert paths["csv"].read_text().splitlines()[1] == "a|b_c,0.3333333333333333,50000000"


def test_a_table_without_rows_has_a_header(tmp_path):
    paths = tables.write_table(FRAME.head(0), tmp_path / "t")
    header, _ = paths["md"].read_text().splitlines()
    assert [cell.strip() for cell in header.strip("|").split("|")] == ["name_of", "mean", "rounds"]
    assert r"name\_of & mean & rounds \\" in paths["tex"].read_text()


def test_tables_say_what_is_a_stand_in(tmp_path):
    plain = tables.write_table(FRAME, tmp_path / "plain")
    marked = tables.write_table(FRAME, tmp_path / "marked", stand_in=True)
    for suffix in ("md", "tex"):
        assert "ynthetic stand-in" in marked[suffix].read_text()
        assert "ynthetic stand-in" not in plain[suffix].read_text()
    assert marked["csv"].read_bytes() == plain["csv"].read_bytes()


def test_ends_are_named_in_their_order_and_apart():
    figure, ax = style.subplots(width=3.4, height=2.4)
    for name, end in (("middle", 1.01), ("low", 1.0), ("high", 9.0), ("outside", 99.0), ("_guide", 5.0)):
        ax.plot([0, 1, 2], [1, end, np.nan], label=name)
    ax.axhline(0.99, label="level")
    ax.set(ylim=(0, 10))
    texts = style.name_ends(ax)
    assert [text.get_text() for text in texts] == ["level", "low", "middle", "high", "outside"]
    places = [text.xyann[1] for text in texts]
    height = ax.get_window_extent().height * 72 / figure.dpi
    assert min(np.diff(places)) * height >= style.SMALL
    assert 0 <= places[0] < places[-1] <= 1
    assert texts[3].xy[1] == pytest.approx(0.9)
    assert [text.get_text() for text in style.name_ends(ax, ["high"])] == ["high"]


def test_the_text_of_a_published_value_covers_no_curve_at_its_line():
    figure, ax = style.subplots(width=3.4, height=2.4)
    ax.set(xlim=(0, 10), ylim=(0, 1))
    style.published(ax, 4.0, "published: 4", axis="x")
    figure.draw_without_rendering()
    box = ax.texts[0].get_window_extent()
    line, _ = ax.transData.transform((4, 0))
    assert line < box.x0 < line + 10
    assert box.width > box.height
    assert box.y1 <= ax.get_window_extent().y1


def test_a_legend_leaves_out_what_the_panels_name():
    figure, ax = style.subplots(width=3.4, height=2.4)
    for name in ("a", "b"):
        ax.plot([1, 2], [1, 2], label=name)
    assert [text.get_text() for text in style.legend(figure, named=["a"]).get_texts()] == ["b"]
    assert style.legend(figure, named=["a", "b"]) is None


@pytest.mark.parametrize(("palette", "sign"), [("viridis", 1), ("flare", -1)])
def test_a_sequence_of_colours_goes_from_dark_to_light_or_back(palette, sign):
    looks = style.in_sequence([0.1, 0.5, 1, 0.1, 2], palette)
    assert list(looks) == [0.1, 0.5, 1, 2]
    lightness = [np.dot(matplotlib.colors.to_rgb(look["color"]), (0.299, 0.587, 0.114)) for look in looks.values()]
    assert (sign * np.diff(lightness) > 0.05).all()
    assert len({look["marker"] for look in looks.values()}) == 4


def test_ticks_of_a_logarithmic_axis_are_named_without_exponents():
    def names(low, high):
        _, ax = style.subplots(width=3.4, height=2.4)
        ax.set(yscale="log", ylim=(low, high))
        style.log_ticks(ax.yaxis)
        ax.figure.draw_without_rendering()
        return [
            text
            for tick, text in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
            if low <= tick <= high and text.get_text()
        ]

    assert [text.get_text() for text in names(1, 20)] == ["1", "2", "5", "10", "20"]
    assert [text.get_text() for text in names(1, 2_000)] == ["1", "10", "100", "1,000"]
