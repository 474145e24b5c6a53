"""Check that figures, tables and inference tables are registered next to their functions."""

import itertools

import pytest

from privarms.errors import PrivarmsError
from privarms.registry import artifacts, extensions

number = itertools.count()


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """Return a function that writes the modules of an extension's paper and returns its artifacts."""
    folder = tmp_path / f"registering_{next(number)}"
    monkeypatch.setenv(extensions.VARIABLE, "")

    def write(**modules):
        for name, text in modules.items():
            path = folder / f"papers/mine/{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                f"from privarms.registry.artifacts import figure, inference, table\n\n\n{text}", encoding="utf-8"
            )
        extensions.extend([folder])
        return artifacts.of_paper("mine")

    return write


FIGURE = """\
@figure("One", "First.", name="one", arguments={"panel": 1}, studies=["s"])
@figure("Two", "Second.", name="two", arguments={"panel": 2}, inference=["t"], card="Both", tab="Two")
def draw(results, panel):
    return panel
"""


def test_a_function_may_draw_several_figures(paper):
    registered = paper(
        figures=FIGURE, tables='@table("Three", "Third.", file="numbers")\ndef three(results):\n    return 3\n'
    )
    assert list(registered) == ["one", "two", "three"]
    assert [entry.kind for entry in registered.values()] == ["figure", "figure", "table"]
    assert (registered["one"].studies, registered["two"].inference) == (["s"], ["t"])
    assert (registered["two"].tab, registered["three"].file) == ("Two", "numbers")
    assert artifacts.make(registered["two"].made_by, None) == 2


INFERENCE = """\
@inference(studies=["s"], name="one", arguments={"study": "s"})
@inference(studies=["r"], datasets=["d"], audits=True, name="two", arguments={"study": "r"})
def of_study(results, study):
    return study


@inference()
def formulas(results):
    return 0


def not_registered(results):
    return 0
"""


def test_a_function_may_make_several_inference_tables(paper):
    assert paper(inference=INFERENCE, figures=FIGURE + INFERENCE).keys() == {"one", "two"}, "only the figures"
    tables = artifacts.inference_of_paper("mine")
    assert list(tables) == ["one", "two", "formulas"]
    assert [artifacts.make(table.made_by, None) for table in tables.values()] == ["s", "r", 0]
    assert tables["two"][1:] == (["r"], ["d"], True)
    assert tables["formulas"][1:] == ((), (), False)


def test_two_inference_tables_have_different_names(paper):
    paper(inference=INFERENCE, inference_more=INFERENCE)
    with pytest.raises(PrivarmsError, match=r"inference_more: one: duplicate name; give each inference table of mine"):
        artifacts.inference_of_paper("mine")


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        ({"figures_more": FIGURE, "figures": FIGURE}, "one: duplicate name; give each artifact of mine its own"),
        ({"figures": FIGURE.replace(', tab="Two"', ', tabs="Two"')}, "figures.py:5: TypeError.*'tabs'"),
    ],
)
def test_faults_are_one_error(paper, modules, words):
    with pytest.raises(PrivarmsError, match=words):
        paper(**modules)
