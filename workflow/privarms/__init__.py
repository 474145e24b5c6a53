"""privarms: differentially private bandits, their exact fast simulation, and the ledger of reproduced results."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privarms.cli.interactive import audit, compare, correct, simulate

__version__ = "0.2.0"
__all__ = ["audit", "compare", "correct", "simulate"]


def __getattr__(name: str) -> Any:
    """Return one of the functions for notebooks, which take seconds to import (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from privarms.cli import interactive

    return getattr(interactive, name)
