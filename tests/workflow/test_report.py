"""Check Snakemake's own report: figures and tables with their captions."""

import pytest

from privarms.registry import artifacts

pytestmark = pytest.mark.workflow


def test_snakemake_s_report_has_pictures_and_numbers_with_captions(small_made, tmp_path):
    small_made.complete(f"--report={tmp_path}/own.html")
    page = (tmp_path / "own.html").read_text(encoding="utf-8")
    for suffix in ("png", "csv"):
        assert f'"results/quick/figures/sajed2019/fig1a.{suffix}"' in page
    caption = artifacts.of_paper("sajed2019")["fig1a"].caption
    assert caption.partition(".")[0] in page
