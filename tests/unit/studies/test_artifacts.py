"""Check that figures and tables are registered next to their functions."""

import itertools

import pytest

from privarms.errors import PrivarmsError
from privarms.registry import artifacts, extensions, library

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
            path.write_text("from privarms.registry.artifacts import figure, table\n\n\n" + text, encoding="utf-8")
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
    module, function, arguments = registered["two"].made_by
    assert getattr(library.load_module(module), function)(None, **arguments) == 2


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
