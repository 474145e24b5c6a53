"""The figures and claims of li2024 need no kernels, and the share that half of a variance covers."""

from pathlib import Path

import pytest

from privarms.papers.li2024.figures import HALF_VARIANCE
from privarms.studies import library


def test_half_of_the_variance_covers_83_per_cent():
    assert pytest.approx(0.8342, abs=5e-5) == HALF_VARIANCE


def test_figures_import_no_kernels():
    files = {Path(f).relative_to(library.ROOT) for f in library.sources("papers.li2024.figures")}
    assert not {f for f in files if f.parts[0] in ("policies", "environments", "mechanisms", "protocols")}
    files = {Path(f).relative_to(library.ROOT) for f in library.sources("papers.li2024.measures")}
    assert not {f for f in files if f.name in ("figures.py", "tables.py", "style.py") and "li2024" in f.parts}
    assert Path("plots/style.py") not in files
