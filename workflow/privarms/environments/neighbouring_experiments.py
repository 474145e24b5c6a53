"""Two runs of DP-ConSE that differ in one patient: the inputs of the audit of its three releases.

Theorem 3.5 of Li, Shi & Simchi-Levi (2024) claims that the trials' lengths cost epsilon / 2 and the estimates
epsilon / 2 (proof of Theorem 3.5). Runs 0 and 1, and the event that is likelier in run 1:

- lengths: one changed context moves T_min from T to T + 1. With alpha = 1/2 and T = 1000 the rarest feature has
  1,002,000 or 1,002,001 patients in the first half, the second one being (T + 1)^2: enough for every losing arm to be
  eliminated, which takes n of about 2 M (T + 1)^2. Event: every T_j >= T + 1. All M lengths share T_min, so that the
  cost is M epsilon / 2. With M = 1 no change of a context moves T_min: the row is about the mechanism alone.
- lengths_from_actions: the same, but only actions are seen. The losing arm is pulled inside trials only, half of the
  time; event: for every feature the last pull of the losing arm comes at its patient T + 1 or later.
- estimate: trials of T patients, half of them for each arm. With one feature, one reward of arm 1 is 0 in run 0 and 1
  in run 1. With more, one patient, the only one with a reward of 1, moves from arm 0 of feature 1 to arm 1 of feature
  2, and one without a reward takes each place: two estimates change. Event: an estimate of at least what it is in
  run 1 without noise, for the feature or the two features that change.
"""

from typing import Literal, NamedTuple

RELEASES = ("lengths", "estimate", "lengths_from_actions")


class Environment(NamedTuple):
    """release: index into RELEASES; run: 0 or 1; T: patients of a trial, in run 0."""

    release: int
    run: int
    T: int


def configure(release: Literal["lengths", "estimate", "lengths_from_actions"], run: int, T: int = 1000) -> Environment:
    """Run 0, or its neighbour 1; T is even and at least 2."""
    if release not in RELEASES:
        raise ValueError(f"release: expected {', '.join(RELEASES)}; found {release!r}")
    if run not in (0, 1):
        raise ValueError(f"run: expected 0 or 1; found {run}")
    if T < 2 or T % 2 == 1:
        raise ValueError(f"T: expected an even number of patients, at least 2; found {T}")
    return Environment(RELEASES.index(release), int(run), int(T))
