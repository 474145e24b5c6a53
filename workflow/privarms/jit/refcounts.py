"""Plain instead of atomic reference counts of arrays in kernels: opt-in, for processes that run kernels on one thread.

numba counts every array of a NamedTuple at each call that passes it. Its atomic increments lock the memory bus and take
up to three quarters of a kernel's time. With plain counts, kernels on several threads of a process would race. So only
processes of jobs call `make_plain`, before they compile anything. Results are identical to the bit. This is one of two
modules that rely on an undocumented interface (numba.core.runtime.nrtdynmod). If the interface is not as expected,
nothing is changed. PRIVARMS_ATOMIC_REFCOUNTS=1 switches plain counts off.
"""

import inspect
import os
import sys

from llvmlite import ir
from numba.core.runtime import nrtdynmod, rtsys

OFF_VARIABLE = "PRIVARMS_ATOMIC_REFCOUNTS"
EXPECTED = ["module", "op", "ordering"]


def make_plain() -> bool:
    """Make reference counts of this process plain and return True; return False and change nothing if that is unsafe.

    Unsafe: kernels were compiled before, Python runs without its global lock, or numba's internals are not as expected.
    """
    define = getattr(nrtdynmod, "_define_atomic_inc_dec", None)
    expected = define is not None and [*inspect.signature(define).parameters] == EXPECTED
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    if are_plain() or os.environ.get(OFF_VARIABLE) or not (expected and locked) or getattr(rtsys, "_init", True):
        return are_plain()
    nrtdynmod._define_atomic_inc_dec = _define_plain
    return True


def are_plain() -> bool:
    """Return whether `make_plain` has changed this process."""
    return getattr(nrtdynmod, "_define_atomic_inc_dec", None) is _define_plain


def _define_plain(module: ir.Module, op: str, ordering: str) -> ir.Function:
    word = ir.IntType(64 if sys.maxsize > 2**32 else 32)
    function = ir.Function(module, ir.FunctionType(word, [word.as_pointer()]), name=f"nrt_atomic_{op}")
    builder = ir.IRBuilder(function.append_basic_block())
    count = getattr(builder, op)(builder.load(function.args[0]), ir.Constant(word, 1))
    builder.store(count, function.args[0])
    builder.ret(count)
    return function
