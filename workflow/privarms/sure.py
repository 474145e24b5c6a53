"""Calls of compiled functions that cannot raise, so that nothing looks whether they have.

Behind every call numba looks whether the function has raised, and leaves the caller if so. With this second way out
the caller, and what it is taken into, count the references to all arrays that they hold, whenever they get there.
"""

from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic


def sure(function: Callable, rare: bool = False) -> Callable:
    """The same function, for kernels: an `@njit` function that raises nothing, whatever its arguments are.

    Where bounds are checked, a fault of its own would end it half done, and nobody would be told.
    rare: it is seldom called, and not taken in. It is called in the way of C, for which a kernel lays nothing out in
    memory beforehand.
    """
    if not isinstance(function, Dispatcher):
        return function  # plain Python, where numba is switched off

    @intrinsic
    def call(context, *arguments):
        found = context.resolve_value_type(function).get_call_type(context, arguments, {})

        def generate(target, builder, signature, values):
            given = [builder.extract_value(values[0], place) for place in range(len(arguments))]
            made = function.overloads[found.args]
            target.add_linking_libs([made.library])
            if not rare:
                return target.call_internal_no_propagate(builder, made.fndesc, found, given)[1]
            gives = found.return_type != types.none
            kind = target.get_value_type(found.return_type) if gives else ir.VoidType()
            kind = ir.FunctionType(kind, [value.type for value in given])
            apart = cgutils.get_or_insert_function(builder.module, kind, f"apart_{made.fndesc.mangled_name}")
            result = builder.call(apart, given)
            if not apart.blocks:
                # The same in every module of a kernel.
                apart.linkage = "linkonce_odr"
                for attribute in ("noinline", "cold"):
                    apart.attributes.add(attribute)
                within = ir.IRBuilder(apart.append_basic_block())
                _, value = target.call_internal_no_propagate(within, made.fndesc, found, apart.args)
                within.ret(value) if gives else within.ret_void()
            return result if gives else target.get_dummy_value()

        return found.return_type(types.StarArgTuple.from_types(arguments)), generate

    # For Python, which numba's own does not answer.
    for_python = {"__call__": lambda self, *given: function(*given), "py_func": staticmethod(function.py_func)}
    call.__class__ = type(function.__name__, (type(call),), for_python)
    return call
