"""Generators that draw ahead, for kernels: the same numbers, to the bit, and the same state at the end, in less time.

`privarms.jit.cache` gives a kernel that it keeps such a one in the place of every Generator, so that no kernel knows of
it. It has the methods that numba knows of Generators. It ends with the kernel, which cannot return it; of a kernel that
raises the Generator is where it was before.
"""

from numba import types
from numba.extending import lower_builtin, overload, overload_attribute, overload_method, type_callable
from numba.np.random import generator_methods

from privarms import pcg64, ziggurat
from privarms.pcg64 import Ahead


def ahead(rng):
    """In a compiled function the same Generator, one that `pcg64.is_known`, drawing ahead: until `settle`, in the same
    function, nothing else may draw from it. Python has its Generator back.
    """
    return rng


def settle(rng):
    """Put the Generator of what `ahead` gave behind the last number that was drawn; for Python it is there."""


@type_callable(ahead)
def _(context):
    return lambda rng: Ahead() if isinstance(rng, types.NumPyRandomGeneratorType) else None


lower_builtin(ahead, types.NumPyRandomGeneratorType)(pcg64.lay_out)


@overload(settle)
def _settle(rng):
    return (lambda rng: pcg64.put_back(rng)) if isinstance(rng, Ahead) else None


@overload_attribute(Ahead, "bit_generator")
def _bit_generator(rng):
    return lambda rng: rng


_PREFIX = "NumPyRandomGeneratorType_"
for _name in dir(generator_methods):
    _method = _name.removeprefix(_PREFIX)
    if _name.startswith(_PREFIX) and _method not in ziggurat.OWN:
        overload_method(Ahead, _method)(getattr(generator_methods, _name))
