"""What a job asks of a cluster."""

from collections.abc import Callable, Mapping


def growing(amount: int) -> Callable[[Mapping, int], int]:
    """A resource of which a retry asks for more: the amount, then twice, then three times it.

    Memory is measured on one machine and run time estimated; elsewhere a job that is killed for either gets through.
    """

    def resource(wildcards: Mapping, attempt: int) -> int:
        return amount * attempt

    return resource
