"""Figures and tables of a paper, registered by decorators of the functions that make them.

    @figure("Regret over time", studies=["budgets"])
    def fig1(results): ...

A paper's package registers figures in its modules `figures*.py` and tables in `tables*.py`. A function may be
registered several times, with other names and arguments.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from privarms.errors import PrivarmsError
from privarms.registry import library


class Artifact(NamedTuple):
    """A figure or table, as `figure` and `table` describe it; made_by: module (dotted), function and its arguments."""

    kind: str
    title: str
    caption: str
    made_by: tuple[str, str, dict]
    studies: Sequence[str] = ()
    inference: Sequence[str] = ()
    file: str = ""
    card: str = ""
    tab: str = ""
    front: bool = False
    dataset: str = ""
    sheet: tuple[str, str] | None = None
    policies: Sequence[str] | None = None


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


def _registering(
    kind: str, title: str, caption: str, *, name: str = "", arguments: Mapping | None = None, **about
) -> Callable[[Callable], Callable]:
    def register(function: Callable) -> Callable:
        own, text = name or function.__name__, caption or " ".join((function.__doc__ or "").split())
        if not text:
            raise PrivarmsError(f"{function.__module__}: {kind} {own}: found no caption; expected a docstring")
        entry = Artifact(kind, title, text, (*_place(function), dict(arguments or {})), **about)
        # The decorator next to the function is applied first.
        function.artifacts = {own: entry} | getattr(function, "artifacts", {})
        return function

    return register


def _place(function: Callable) -> tuple[str, str]:
    return function.__module__.removeprefix(f"{library.PACKAGE}."), function.__name__


def of_paper(paper: str) -> dict[str, Artifact]:
    """Return a paper's figures and tables by name, in the order of its modules; PrivarmsError for a duplicate name."""
    modules = [module for kind in ("figures", "tables") for module in library.paper_modules(paper, kind)]
    registered: dict[str, Artifact] = {}
    for module in modules:
        functions = [f for f in vars(library.load_module(module)).values() if inspect.isfunction(f)]
        for function in (f for f in functions if _place(f)[0] == module):
            for name, entry in getattr(function, "artifacts", {}).items():
                if name in registered:
                    raise PrivarmsError(f"{module}: {name}: duplicate name; give each artifact of {paper} its own")
                registered[name] = entry
    return registered
