"""Two fixed reward streams that differ in one reward: all rewards are 0, or the first one of arm 0 is 1."""

from typing import NamedTuple


class Environment(NamedTuple):
    """n_arms: K = 2; first_reward: of arm 0, 0 or 1."""

    n_arms: int
    first_reward: float


def configure(K: int, stream: int) -> Environment:
    """Stream 0, or its neighbour 1, in which arm 0's first reward is 1, for K = 2 arms."""
    if K != 2:
        raise ValueError(f"K: expected 2 arms; found {K}")
    if stream not in (0, 1):
        raise ValueError(f"stream: expected 0 or 1; found {stream}")
    return Environment(int(K), float(stream))
