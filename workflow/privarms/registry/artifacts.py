"""Figures, tables and inference tables of a paper, registered by decorators of the functions that make them.

    @figure("Regret over time", studies=["budgets"])
    def fig1(results): ...

A paper's package registers figures in its modules `figures*.py`, tables in `tables*.py` and inference tables in
`inference*.py`. A function may be registered several times, with other names and arguments.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from privarms.errors import PrivarmsError
from privarms.registry import library
from privarms.registry.imported import PACKAGE

# Module (dotted), function and its arguments.
MadeBy = tuple[str, str, dict]


class Artifact(NamedTuple):
    """A figure or table, as `figure` and `table` describe it."""

    kind: str
    title: str
    caption: str
    made_by: MadeBy
    studies: Sequence[str] = ()
    inference: Sequence[str] = ()
    file: str = ""
    card: str = ""
    tab: str = ""
    front: bool = False
    dataset: str = ""
    sheet: tuple[str, str] | None = None
    policies: Sequence[str] | None = None


class InferenceTable(NamedTuple):
    """An inference table, as `inference` describes it."""

    made_by: MadeBy
    studies: Sequence[str] = ()
    datasets: Sequence[str] = ()
    audits: bool = False


def figure(title: str, caption: str = "", **about) -> Callable[[Callable], Callable]:
    """Register a function that takes the results and returns a matplotlib figure and a frame of the drawn numbers.

    title, caption : shown to readers (default caption: the function's docstring)
    name : of the figure and its files (default: the function's name)
    arguments : further ones of the function; with a `variant`, only cells of this variant are shown
    studies, inference : the studies whose cells it reads, and the inference tables
    card, tab, front : its card in the report, its tab there, and whether the report's front page shows it
    dataset : the dataset, if the figure is about one only
    policies : the only policies that it shows, which its caption warns of if they are not private as claimed
        (default: all of its studies)

    Raises PrivarmsError if it has no caption.
    """
    return _registering("figure", title, caption, **about)


def table(title: str, caption: str = "", *, sheet: Callable | None = None, **about) -> Callable[[Callable], Callable]:
    """Register a function that takes the results and returns the frame to write; otherwise as `figure`.

    file : the name of its files, if a figure has the table's name
    sheet : a function of the frame and the results that returns a layout for reading
    """
    return _registering("table", title, caption, sheet=sheet and _place(sheet), **about)


def inference(
    *,
    studies: Sequence[str] = (),
    datasets: Sequence[str] = (),
    audits: bool = False,
    name: str = "",
    arguments: Mapping | None = None,
) -> Callable[[Callable], Callable]:
    """Register a function that takes the results and returns an inference table as a frame.

    studies : the studies whose replicates and cells it reads; none for a table of formulas
    datasets : further datasets whose facts it reads, such as the number of rows
    audits : whether it reads the privacy audits of all papers
    name, arguments : as of `figure`
    """

    def register(function: Callable) -> Callable:
        return _with(function, name, InferenceTable(_made_by(function, arguments), studies, datasets, audits))

    return register


def _registering(
    kind: str, title: str, caption: str, *, name: str = "", arguments: Mapping | None = None, **about
) -> Callable[[Callable], Callable]:
    def register(function: Callable) -> Callable:
        own, text = name or function.__name__, caption or " ".join((function.__doc__ or "").split())
        if not text:
            raise PrivarmsError(f"{function.__module__}: {kind} {own}: found no caption; expected a docstring")
        return _with(function, own, Artifact(kind, title, text, _made_by(function, arguments), **about))

    return register


def _with(function: Callable, name: str, entry: Artifact | InferenceTable) -> Callable:
    # The decorator next to the function is applied first.
    function.registered = {name or function.__name__: entry} | getattr(function, "registered", {})
    return function


def _made_by(function: Callable, arguments: Mapping | None) -> MadeBy:
    return (*_place(function), dict(arguments or {}))


def make(made_by: MadeBy, results: object) -> Any:
    """Return what a registered function makes of the results."""
    module, function, arguments = made_by
    return getattr(library.load_module(module), function)(results, **arguments)


def _place(function: Callable) -> tuple[str, str]:
    return function.__module__.removeprefix(f"{PACKAGE}."), function.__name__


def of_paper(paper: str) -> dict[str, Artifact]:
    """Return a paper's figures and tables by name, in the order of its modules; PrivarmsError for a duplicate name."""
    return _registered(paper, Artifact, "artifact", ("figures", "tables"))


def inference_of_paper(paper: str) -> dict[str, InferenceTable]:
    """Return a paper's inference tables by name; otherwise as `of_paper`."""
    return _registered(paper, InferenceTable, "inference table", ("inference",))


def _registered(paper: str, entry_type: type, noun: str, kinds: Sequence[str]) -> dict:
    registered: dict = {}
    for module in (module for kind in kinds for module in library.paper_modules(paper, kind)):
        functions = [f for f in vars(library.load_module(module)).values() if inspect.isfunction(f)]
        for function in (f for f in functions if _place(f)[0] == module):
            for name, entry in getattr(function, "registered", {}).items():
                if not isinstance(entry, entry_type):
                    continue
                if name in registered:
                    raise PrivarmsError(f"{module}: {name}: duplicate name; give each {noun} of {paper} its own")
                registered[name] = entry
    return registered
