"""Every policy accepts the ends of its parameters' ranges with finite parameters, or refuses them with a ValueError."""

import itertools

import numpy as np
import pytest

from privarms.registry import library
from privarms.registry.modules import PolicyModule

ENDS = {
    "K": (1, 2, 100),
    "horizon": (1, 2, 60, 10**10),
    "dimensions": (1, 50),
    "epsilon": (0, -1, 1e-9, 1.0, 1e9, float("nan"), float("inf")),
    "M": (1, 10),
    "alpha": (0, 1e-9, 0.5, 1),
    "beta": (0, 1e-9, 0.5, 1),
    "delta": (0, 1e-9, 0.5, 1),
    "arm": (-1, 0),
    "variant": ("as_printed", "as_released"),
    "width": ("log3", "chan", "exact", "mishra_thakurta"),
}


def numbers(params):
    for value in params:
        if isinstance(value, float | int) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
            yield from np.ravel(value)[:100]


@pytest.mark.parametrize("name", library.names("policies"))
def test_the_ends_of_ranges_give_finite_parameters_or_one_error(name):
    arguments = PolicyModule(name).arguments
    needed = [key for key, argument in arguments.items() if argument.required or key == "epsilon"]
    configure = PolicyModule(name).module.configure
    accepted, messages = [], set()
    for values in itertools.product(*(ENDS[key] for key in needed)):
        chosen = dict(zip(needed, values, strict=True))
        if name == "ldp_mab" and chosen["variant"] == "as_printed":
            chosen["c"] = 2.0
        try:
            params = configure(**chosen)
        except ValueError as error:
            messages.add(str(error))
            continue
        assert not any(np.isnan(value) for value in numbers(params)), chosen
        accepted.append(chosen)
    assert accepted
    assert all("expected" in message for message in messages), messages
    # No budget that gives no privacy is accepted in silence. An infinite one means none.
    assert all(chosen.get("epsilon", 1) > 0 for chosen in accepted)
    # One arm leaves nothing to choose.
    assert all(chosen.get("K", 2) > 1 for chosen in accepted)
