"""How often Python looks for what only refers to itself: by default whenever there are some hundred things more."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 20, 50)


@contextmanager
def seldom() -> Iterator[None]:
    """Look seldom within this block, where hundreds of thousands of small things are made and nothing large is lost."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
