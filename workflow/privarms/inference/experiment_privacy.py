"""What DP-ConSE's releases cost in privacy: exactly, for the runs and events of `neighbouring_experiments`.

The proof of Theorem 3.5 of Li, Shi & Simchi-Levi (2024) allows epsilon / 2 for each of them.
"""

import numpy as np

from privarms.environments.neighbouring_experiments import RELEASES
from privarms.mechanisms import lap_plus


def claimed_loss(epsilon: float) -> float:
    """epsilon / 2: what the proof allows for the lengths, and again for the estimates."""
    return epsilon / 2


def event_probability(release: str, M: int, epsilon: float, run: int, T: int = 1000, noise: float = 1.0) -> float:
    """The probability of the release's event in run 0 or 1; noise: multiple of the Laplace scale of the estimates.

    With q = e^(-epsilon / 2) and c the constant of Lap+: P(T_j >= T + 1) = c q^(1 - run) / (1 - q). Seen through
    actions, the trial's last patients that did not get the losing arm are g with probability 2^-(g + 1), and the sum
    over g of P(T_j >= T + 1 + g) 2^-(g + 1) is P(T_j >= T + 1) / (2 - q). An estimate without the change is at least
    what it is with it with probability e^(-shift / scale) / 2, shift = 2 / T, scale = 2 noise / (epsilon T).
    """
    if release not in RELEASES:
        raise ValueError(f"release: expected {', '.join(RELEASES)}; found {release!r}")
    if M < 1 or run not in (0, 1):
        raise ValueError(f"expected M >= 1 and run 0 or 1; found {M} and {run}")
    if release == "estimate":
        changed = min(M, 2)
        return float((np.exp(-epsilon / noise * (1 - run)) / 2) ** changed)
    reaches = lap_plus.survival(T + 1, T + run, epsilon)
    if release == "lengths_from_actions":
        reaches /= 2 - np.exp(-epsilon / 2)
    return float(reaches**M)


def log_ratio(release: str, M: int, epsilon: float, T: int = 1000, noise: float = 1.0, delta: float = 0.0) -> float:
    """ln((Pr[event | run 1] - delta) / Pr[event | run 0]): the least epsilon of an (epsilon, delta)-private release.

    With delta = 0 it is M epsilon / 2 for the lengths, but for a term of order e^(-epsilon T / 2), and
    min(M, 2) epsilon / noise for the estimate. -inf where delta is the larger.
    """
    likely, unlikely = (event_probability(release, M, epsilon, run, T, noise) for run in (1, 0))
    return float(np.log((likely - delta) / unlikely)) if likely > delta else float("-inf")


def batch_event_probability(R: float, epsilon: float, share: float = 1.0) -> float:
    """P(R_e^j >= share R_e) for R_e = R: below 1/2 at share 1, on which the proof rests with probability 1 - 1/n."""
    return lap_plus.survival(int(np.ceil(share * R)), R, epsilon)
