"""A table laid out as in a paper, as Markdown, LaTeX and PNG."""

import re
import textwrap
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from privarms.data import STAND_IN
from privarms.files.whole import whole
from privarms.plots import style
from privarms.plots.tables import STAND_IN_NOTE, write_csv

# Symbol in texts -> LaTeX in math mode.
SYMBOLS = {"ε_m": r"\varepsilon_m", "ε": r"\varepsilon", "n_P": r"n_P", "±": r"\pm"}
GREY = "#D9D9D9"
ROW, LINE = 0.17, 0.6  # inches, points
CHARACTER = 0.068  # inches of a character of this font at 8 points


class Entry(NamedTuple):
    """A cell of the table; quiet cells are less important, so italic or grey."""

    text: str
    bold: bool = False
    grey: bool = False
    quiet: bool = False


class Sheet(NamedTuple):
    """heads: header lines, each a list of (text, columns spanned). The last header line names single columns.
    rows: a text is the title of a block; a list has one entry per column. notes: sentences below the table.
    """

    heads: list[list[tuple[str, int]]]
    rows: list[str | list[Entry]]
    notes: list[str]


def write_sheet(frame: pd.DataFrame, sheet: Sheet, stem: Path, *, stand_in: bool = False) -> dict[str, Path]:
    """Write the frame as `stem`.csv (full precision) and the sheet as .md, .tex and .png (200 dpi).

    With `stand_in` a note and a watermark mark the data as synthetic. Return the paths by suffix.
    """
    if stand_in:
        sheet = sheet._replace(notes=[f"{STAND_IN.capitalize()}: {STAND_IN_NOTE}.", *sheet.notes])
    paths = {suffix: stem.with_name(f"{stem.name}.{suffix}") for suffix in ("csv", "md", "tex", "png")}
    with style.styled(), ExitStack() as stack:
        csv, md, tex, png = (stack.enter_context(whole(path)) for path in paths.values())
        write_csv(frame, csv)
        md.write_text(markdown(sheet), encoding="utf-8")
        tex.write_text(latex(sheet), encoding="utf-8")
        figure = draw(sheet)
        if stand_in:
            style.watermark(figure)
        figure.savefig(png, format="png", metadata={"Software": None})
    return paths


def markdown(sheet: Sheet) -> str:
    """Return a Markdown table; quiet entries are italic, and grey ones end with an asterisk."""
    heads = [[text for text, span in head for _ in range(span)] for head in sheet.heads]
    names = [" ".join(filter(None, parts)) for parts in zip(*heads, strict=True)]
    lines = [names, [":--", *["--:"] * (len(names) - 1)]]
    for row in sheet.rows:
        if isinstance(row, str):
            lines.append([f"**{row}**", *[""] * (len(names) - 1)])
        else:
            lines.append([_marked(entry) for entry in row])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([table, *sheet.notes]) + "\n"


def _marked(entry: Entry) -> str:
    text = f"**{entry.text}**" if entry.bold and entry.text else entry.text
    text = f"*{text}*" if entry.quiet and entry.text else text
    return f"{text}\\*" if entry.grey else text


def latex(sheet: Sheet) -> str:
    """Return a booktabs table; grey cells are coloured."""
    columns = len(sheet.heads[-1])
    lines = [f"\\begin{{tabular}}{{l{'r' * (columns - 1)}}}", "\\toprule"]
    for head in sheet.heads:
        cells = [
            f"\\multicolumn{{{span}}}{{c}}{{{_escaped(text)}}}" if span > 1 else _escaped(text) for text, span in head
        ]
        lines.append(" & ".join(cells) + " \\\\")
    lines.append("\\midrule")
    for row in sheet.rows:
        if isinstance(row, str):
            lines.append(f"\\multicolumn{{{columns}}}{{l}}{{{_escaped(row)}}} \\\\")
        else:
            lines.append(" & ".join(_set(entry) for entry in row) + " \\\\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    notes = "\n\n".join(_escaped(note) for note in sheet.notes)
    head = "% needs \\usepackage{booktabs} and \\usepackage[table]{xcolor}\n"
    return head + "\n".join(lines) + "\n\n" + notes + "\n"


def _set(entry: Entry) -> str:
    text = _escaped(entry.text)
    text = f"\\textbf{{{text}}}" if entry.bold else text
    text = f"\\textit{{{text}}}" if entry.quiet and text else text
    return f"\\cellcolor[gray]{{0.85}}{text}" if entry.grey else text


def _escaped(text: str, special: str = r"[&%$#_{}]") -> str:
    """Return a text with its symbols as formulas and a backslash before each special character."""
    parts = re.split(f"({'|'.join(SYMBOLS)})", text)
    return "".join(f"${SYMBOLS[p]}$" if p in SYMBOLS else re.sub(f"({special})", r"\\\1", p) for p in parts)


def draw(sheet: Sheet) -> Figure:
    """Return the sheet as a figure, as wide as its texts."""
    texts = [row for row in sheet.rows if not isinstance(row, str)]
    widths = []
    for j, (name, _) in enumerate(sheet.heads[-1]):
        widths.append(max(len(name), *(len(row[j].text) for row in texts)) * CHARACTER + 0.14)
    for head in sheet.heads[:-1]:
        first = 0
        for text, span in head:
            lacking = len(text) * CHARACTER + 0.1 - sum(widths[first : first + span])
            widths[first : first + span] = [w + max(lacking, 0) / span for w in widths[first : first + span]]
            first += span
    edges = [sum(widths[:j]) for j in range(len(widths) + 1)]
    wrapped = [line for note in sheet.notes for line in textwrap.wrap(note, int(edges[-1] / CHARACTER * 1.2))]
    heights = len(sheet.heads) + len(sheet.rows) + len(wrapped) + 1
    figure = Figure(figsize=(edges[-1] + 0.1, heights * ROW + 0.1))
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(-0.05, edges[-1] + 0.05), ylim=(heights * ROW + 0.05, -0.05))
    ax.set_axis_off()

    def rule(y: float, left: float = 0.0, right: float = edges[-1], width: float = LINE):
        ax.plot([left, right], [y, y], color="black", linewidth=width, solid_capstyle="butt")

    def write(text, first, span=1, **looks):
        x, ha = (edges[first] + edges[first + span]) / 2, "center"
        if span == 1:
            x, ha = (edges[first] + 0.04, "left") if first == 0 else (edges[first + 1] - 0.06, "right")
        ax.text(x, y + ROW / 2, _escaped(text, r"\$"), ha=ha, va="center", **looks)

    y = 0.0
    rule(y, width=2 * LINE)
    for number, head in enumerate(sheet.heads, 1):
        first = 0
        for text, span in head:
            write(text, first, span)
            if span > 1 and text and number < len(sheet.heads):
                rule(y + ROW, edges[first] + 0.05, edges[first + span] - 0.05, LINE / 2)
            first += span
        y += ROW
    rule(y)
    for row in sheet.rows:
        if isinstance(row, str):
            rule(y, width=LINE / 2)
            # The title is in the first column, which is visible on a narrow screen.
            write(row, 0)
        else:
            for j, entry in enumerate(row):
                if entry.grey:
                    corner, size = (edges[j] + 0.02, y + 0.01), (widths[j] - 0.04, ROW - 0.02)
                    ax.add_patch(Rectangle(corner, *size, color=GREY, linewidth=0))
                weight, color = "bold" if entry.bold else "normal", style.QUIET if entry.quiet else "black"
                write(entry.text, j, fontweight=weight, color=color)
        y += ROW
    rule(y, width=2 * LINE)
    for line in wrapped:
        y += ROW
        ax.text(0.04, y, line, ha="left", va="center", color=style.QUIET, fontsize=7)
    return figure
