"""README and the pages of the papers show the committed ledger in docs/results/."""

import importlib.util
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageColor

from privarms.plots import style
from tests import ROOT


@pytest.fixture(scope="module")
def snapshot():
    specification = importlib.util.spec_from_file_location("snapshot", ROOT / "tools/snapshot.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def papers(snapshot):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIVARMS_DATASETS", "")  # which the plan sets; it is gone afterwards
        return snapshot.papers()


def test_readme_and_pages_are_those_of_the_committed_ledger(snapshot, papers):
    for file, text in snapshot.texts(papers).items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: run python tools/snapshot.py"


def test_readme_counts_every_statement_of_the_papers(snapshot, papers):
    statements = pd.read_csv(ROOT / "docs/results/statements.csv")
    own = statements[statements["whose"] == "paper"].groupby("paper").size()
    readme = snapshot.texts(papers)[snapshot.README]
    lines = [line for line in readme.splitlines() if line.startswith("| [")]
    totals = Counter()
    for line in lines:
        name, *counts = line.strip("| ").split(" | ")
        total, *parts = map(int, counts)
        assert total == sum(parts)
        # A paper may have a second line, for the entries of its tables.
        totals[re.search(r"/(\w+)\.md", name)[1]] += total
    assert len(totals) == 4
    assert all(total == own[paper] for paper, total in totals.items())


def test_a_figure_is_summed_up_by_the_statements_of_the_paper_alone(snapshot, papers):
    """The outcomes in each page's "In short" are those of statements.csv that are not our own questions."""
    stated = pd.read_csv(ROOT / "docs/results/statements.csv").set_index("statement")
    ledger = pd.read_csv(ROOT / "docs/results/ledger.csv")
    of_claim = {f"{p['key']}/{c['claim']}": f"{p['key']}/{c['about']}" for p in papers for c in p["claims"]}
    ledger["about"] = ledger["claim"].map(of_claim)
    first = ledger.drop_duplicates("about").set_index("about")
    pages = snapshot.texts(papers)
    seen = 0
    for paper in papers:
        parts = pages[snapshot.PAGES / f"{paper['key']}.md"].split("\n## ")
        for artifact in paper["artifacts"]:
            text = next((part for part in parts if part.startswith(f"{artifact['title']}\n")), "")
            short = next((line for line in text.splitlines() if line.startswith("*In short:*")), "")
            if not short:
                continue
            counted = re.search(r"of the paper's (\d+) statements", short)
            asked = re.search(r"; and (\d+) questions? of our own", short)
            here = stated.loc[first.index[first["artifact"] == f"{paper['key']}/{artifact['name']}"]]
            whose = here["whose"].value_counts()
            number = int(counted[1]) if counted else int("one statement" in short)
            assert number == whose.get("paper", 0), artifact["name"]
            assert int(asked[1] if asked else 0) == whose.get("ours", 0), artifact["name"]
            fails = ((here["whose"] == "paper") & (here["outcome"] == "does not hold")).sum()
            words = re.search(r"(\d+) (?:does|do) not hold", short.replace("statement", "1"))
            assert int(words[1] if words else 0) == fails, artifact["name"]
            seen += 1
    assert seen > 15


def test_every_finding_of_readme_names_its_paper(snapshot, papers):
    generated = snapshot.texts(papers)[snapshot.README].partition(snapshot.END)[0]
    found = [line for line in generated.splitlines() if line.startswith("- ")]
    assert len(found) == len(snapshot.FINDINGS)
    names = [paper["short"] for paper in papers if snapshot.is_paper(paper)]
    assert all(any(line.startswith(f"- **{name}, ") for name in names) for line in found)


def test_a_copied_picture_keeps_the_colours_of_its_curves(snapshot, tmp_path):
    figure, ax = style.subplots(width=6.8, height=2.5)
    x = np.linspace(0, 1, 50)
    for place, colour in enumerate(style.COLOURS):
        ax.plot(x, x + place, color=colour, label=str(place))
        ax.fill_between(x, x + place - 0.4, x + place + 0.4, color=colour, alpha=0.2, linewidth=0)
    ax.legend()
    figure.savefig(tmp_path / "fig1.png", dpi=200)
    snapshot.small(tmp_path / "fig1.png", tmp_path / "copies")
    with Image.open(tmp_path / "copies/fig1.png") as copy:
        assert copy.width == snapshot.PIXELS
        found = np.array([colour for _, colour in copy.convert("RGB").getcolors(copy.width * copy.height)], np.int64)
    for colour in style.COLOURS:
        assert np.abs(found - ImageColor.getrgb(colour)).max(axis=1).min() <= 10, colour
