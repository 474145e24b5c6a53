"""The tests, and the folders of the project that several of them read."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "config/papers"
