"""Check Snakemake's own report: figures and tables with their captions."""

import pytest

from .conftest import printed_files

pytestmark = pytest.mark.workflow
CAPTION = "Mean pseudo-regret with 95% intervals; one curve per policy and setting"


def test_snakemake_s_report_has_pictures_and_numbers_with_captions(small_made, tmp_path):
    small_made.complete(f"--report={tmp_path}/own.html")
    page = (tmp_path / "own.html").read_text(encoding="utf-8")
    for suffix in ("png", "csv"):
        assert f'"results/tiny/figures/us2026/fig1.{suffix}"' in page
    assert CAPTION in printed_files()["workflow/privarms/papers/us2026/figures.py"]
    assert CAPTION in page
