"""Viable arms pulled in turn, in index order."""

from numba import njit


@njit
def next_viable(viable, arm):
    """Return the viable arm after `arm` in index order; the first one follows the last."""
    while True:
        arm += 1
        if arm == len(viable):
            arm = 0
        if viable[arm]:
            return arm
