"""Write tables as .csv, .md and .tex, reproducibly byte for byte."""

from contextlib import ExitStack
from pathlib import Path

import pandas as pd

from privarms.data import STAND_IN
from privarms.files.numbers import shown
from privarms.files.whole import whole

# A longer table becomes a longtable in TeX, which continues on further pages.
ROWS_OF_A_PAGE = 45
STAND_IN_NOTE = "generated data instead of a missing file; no value that uses them is a result"


def write_table(frame: pd.DataFrame, stem: Path, *, stand_in: bool = False, warning: str = "") -> dict[str, Path]:
    """Write `stem`.csv (full precision), .md and .tex (six digits), without the index; return the paths by suffix.

    With `stand_in`, a notice in .md and .tex marks the data as synthetic; `warning` is printed above the table in both.
    """
    paths = {suffix: stem.with_name(f"{stem.name}.{suffix}") for suffix in ("csv", "md", "tex")}
    with ExitStack() as stack:
        csv, md, tex = (stack.enter_context(whole(path)) for path in paths.values())
        write_csv(frame, csv)
        md.write_text(f"{warning}\n\n" * bool(warning) + _markdown(frame, stand_in), encoding="utf-8")
        tex.write_text(f"{warning}\n\n" * bool(warning) + _latex(frame, stand_in), encoding="utf-8")
    return paths


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write one header line and no index; floats use the fewest digits that round-trip, NaN is an empty field."""
    frame.to_csv(path, index=False, lineterminator="\n", encoding="utf-8")


def _texts(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({str(name): [shown(value) for value in frame[name]] for name in frame.columns}, dtype=object)


def _alignments(frame: pd.DataFrame) -> list[str]:
    numeric = (pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in frame.dtypes)
    return ["right" if column else "left" for column in numeric]


def _markdown(frame: pd.DataFrame, stand_in: bool) -> str:
    texts = _texts(frame).map(_markdown_cell).rename(columns=_markdown_cell)
    # Numbers are already texts. Without disable_numparse tabulate would parse and round them again.
    # tabulate cannot align the columns of a table without rows.
    colalign = _alignments(frame) if len(frame) else None
    table = texts.to_markdown(index=False, tablefmt="pipe", disable_numparse=True, colalign=colalign)
    notice = f"**{STAND_IN.capitalize()}:** {STAND_IN_NOTE}.\n\n" if stand_in else ""
    return f"{notice}{table}\n"


def _markdown_cell(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())


def _latex(frame: pd.DataFrame, stand_in: bool) -> str:
    columns = "".join(alignment[0] for alignment in _alignments(frame))
    long = len(frame) > ROWS_OF_A_PAGE
    table = _texts(frame).to_latex(index=False, escape=True, column_format=columns, longtable=long)
    notice = f"\\textbf{{{STAND_IN.capitalize()}:}} {STAND_IN_NOTE}.\n\n" if stand_in else ""
    needs = "\\usepackage{booktabs}" + " and \\usepackage{longtable}" * long
    return f"% needs {needs}\n{notice}{table}"
