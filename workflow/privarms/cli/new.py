"""`privarms new policy NAME`: write a working bandit as a starting point."""

import keyword
from pathlib import Path
from reprlib import repr as shortened

from privarms.errors import PrivarmsError
from privarms.files.whole import write_text
from privarms.registry import extensions, library
from privarms.registry.modules import PolicyModule

# Names of policies are in the names of result files.
LONGEST = 60

TEMPLATE = '''"""{title}: play every arm in turn for some rounds, then the arm with the largest noisy reward sum.

Each reward enters one sum, which is released once with Laplace noise, so the choices are epsilon-private.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from privarms.mechanisms.laplace import laplace

LABEL = "{title}"


class Params(NamedTuple):
    """n_arms: K >= 2; exploration: rounds of exploration; epsilon: privacy budget > 0."""

    n_arms: int
    exploration: int
    epsilon: float


class State(NamedTuple):
    """sums: float64[K], reward sums while exploring; best: the arm that is played afterwards."""

    sums: np.ndarray
    best: int


def configure(K: int, horizon: int, epsilon: float, share: float = 0.1) -> Params:
    """Return the parameters; studies and `privarms.simulate` set the arguments."""
    if not 0 < share <= 1:
        raise ValueError(f"share: expected a number in (0, 1]; found {{share}}")
    return Params(int(K), K * max(1, int(share * horizon / K)), float(epsilon))


@njit
def init(params):
    """Return the state before round 1."""
    return State(np.zeros(params.n_arms), 0)


@njit
def choose(params, state, context, t, rng):
    """Return the arm of round t, from 0 to K - 1; t begins at 1."""
    return (t - 1) % params.n_arms if t <= params.exploration else state.best


@njit
def learn(params, state, context, arm, reward, t, rng):
    """Return the state after the reward of round t; arrays may change in place."""
    if t > params.exploration:
        return state
    state.sums[arm] += reward
    if t < params.exploration:
        return state
    noisy = np.empty(params.n_arms)
    for a in range(params.n_arms):
        noisy[a] = state.sums[a] + laplace(1 / params.epsilon, rng)
    return State(state.sums, np.argmax(noisy))
'''


def write_policy(name: str, folder: Path) -> Path:
    """Write and return FOLDER/policies/bandit/NAME.py.

    Raises PrivarmsError for a name of a policy or a folder that later commands refuse, and for an existing policy.
    """
    if not extensions.is_name(name) or keyword.iskeyword(name) or len(name) > LONGEST:
        expected = f"expected {extensions.NAME}, at most {LONGEST} characters and no word of Python"
        raise PrivarmsError(f"NAME: {expected}; found {shortened(name)}")
    if not extensions.is_name(folder.resolve().name):
        raise PrivarmsError(f"--folder: {folder}: expected {extensions.NAME}; found {folder.resolve().name!r}")
    file = folder / "policies" / "bandit" / f"{name}.py"
    for existing in (file, *sorted(folder.glob(f"policies/**/{name}.py"))):
        if existing.exists():
            raise PrivarmsError(f"{existing}: this file exists already; choose another name")
    if name in (*library.names("policies"), *library.names(library.MECHANISMS)):
        raise PrivarmsError(
            f"{name}: a policy or mechanism has this name ({PolicyModule(name).shown}); choose another name"
        )
    write_text(file, TEMPLATE.format(title=name.replace("_", " ").capitalize()))
    return file
