"""The documentation of the library as pages, from its docstrings: python docs/build.py FOLDER.

The first page carries what docs/simulation.md and docs/verdicts.md explain.
"""

import os
import re
import sys
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"  # docstrings and arguments as they are written

import pdoc

import privarms

PAGES = ("simulation.md", "verdicts.md")
HERE = Path(__file__).parent


def build(folder: Path) -> None:
    """Write the pages into a folder; `index.html` is the first one."""
    away = os.path.relpath(HERE, folder)
    texts = [(HERE / page).read_text(encoding="utf-8") for page in PAGES]
    # Links stand as seen from docs/; headings one level lower, below the package's own.
    texts = [re.sub(r"\]\((?![a-z]+:|#)", f"]({away}/", re.sub(r"^#", "##", text, flags=re.M)) for text in texts]
    privarms.__doc__ = "\n\n".join([privarms.__doc__, *texts])
    pdoc.render.configure(docformat="markdown", math=True, footer_text=f"privarms {privarms.__version__}")
    pdoc.pdoc("privarms", output_directory=folder)


if __name__ == "__main__":
    build(Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "api"))
