"""Arms pulled in turn, in index order, as long as they are viable."""

from numba import njit


@njit
def next_viable(viable, arm):
    """The viable arm after `arm` in index order, the first one after the last."""
    while True:
        arm += 1
        if arm == len(viable):
            arm = 0
        if viable[arm]:
            return arm
