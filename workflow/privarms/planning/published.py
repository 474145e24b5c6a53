"""The numbers that a paper prints: published/numbers.yaml."""

from pathlib import Path

from pydantic import RootModel

from privarms.files import settings
from privarms.files.model import Name, Printed, checked


class PublishedNumbers(RootModel[dict[Name, Printed]]):
    """The content of numbers.yaml."""


def numbers(file: Path) -> dict[str, float | str]:
    """Return the numbers and words by name; raise PrivarmsError for a fault, with file and key."""
    return checked(PublishedNumbers, settings.read(file), file).root
