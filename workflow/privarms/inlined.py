"""Functions that are only called by a kernel get no machine code of their own, which halves the time that it takes.

For every function that a kernel calls, numba makes what Python would need to call it (arrays and NamedTuples taken
apart and put together), optimises it in full, twice over, and translates it into machine code; then the kernel takes
the function in, and all of that is unused. Here they are compiled as far as the kernel needs them. A function of which
this has happened is compiled anew, as always, when Python calls it.

What else is changed of numba for all kernels stands here too: how references are counted, where arrays begin, and how
a function is named in machine code that is kept. It must be there before anything is compiled, for numba's runtime is
made once a process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numba
from llvmlite import ir
from numba.core import codegen, cpu, dispatcher, sigutils
from numba.core.imputils import lower_constant
from numba.core.runtime import nrtdynmod

from privarms.garbage import seldom

# The function that Python calls, in every module of a kernel; and numba's own runtime, which kernels call.
ENTRY = "call"
_WHOLE = (ENTRY, "nrt")

_active: ContextVar[bool] = ContextVar("_active", default=False)
# What functions raise and print with goes through an environment of theirs, of which machine code knows the address.
_environments: dict[str, object] = {}


class _NoMachineCode:
    """In the place of what Python would call; also what tells one function from another within numba."""


@contextmanager
def inlined() -> Iterator[None]:
    """What is compiled in this block has machine code in functions called `ENTRY` alone; garbage waits."""
    before = _active.set(True)
    try:
        with seldom():
            yield
    finally:
        _active.reset(before)


def _customize_flags(self, flags):
    if _active.get() and self.py_func.__name__ != ENTRY:
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return flags


def _get_executable(self, library, fndesc, env):
    if not _active.get():
        return _numba_get_executable(self, library, fndesc, env)
    if fndesc.qualname != ENTRY:
        _environments[self.get_env_name(fndesc)] = env
        return _NoMachineCode()
    executable = _numba_get_executable(self, library, fndesc, env)
    for variable in library._final_module.global_variables:
        if variable.name in _environments:
            library.codegen.set_env(variable.name, _environments[variable.name])
    return executable


def _add_overload(self, result):
    if isinstance(result.entry_point, _NoMachineCode):
        self.overloads[tuple(result.signature.args)] = result
    else:
        _numba_add_overload(self, result)


def _compile(self, signature):
    if not _active.get():
        arguments = tuple(sigutils.normalize_signature(signature)[0])
        known = self.overloads.get(arguments)
        if known is not None and isinstance(known.entry_point, _NoMachineCode):
            del self.overloads[arguments]
    return _numba_compile(self, signature)


def _finalize_final_module(self):
    if not _active.get() or self.name in _WHOLE:
        _numba_finalize_final_module(self)
    else:
        # Without what makes it ready to be translated: only another module will take it in.
        self._finalize_dynamic_globals()
        self._finalized = True


def _optimize_functions(self, module):
    if _active.get():
        # Passes over modules do the same once more.
        module.data_layout = self._codegen._data_layout
    else:
        _numba_optimize_functions(self, module)


def _add_linking_library(self, library):
    # A function is optimised a little before it is taken in. What Python calls does the same with all that it takes in.
    # Another kernel that takes the function in later does so as well: the numbers are the same, and the speed.
    library._is_for_entry = self.name == ENTRY and not library._finalized
    _numba_add_linking_library(self, library)


def _optimize_final_module(self):
    if not _active.get() or self.name in _WHOLE:
        _numba_optimize_final_module(self)
    elif not self._is_for_entry:
        # The kernel that takes the functions in is optimised in full.
        passes, builder = self._codegen._module_pass_manager(
            loop_vectorize=self._codegen._loopvect, slp_vectorize=False, opt=self._codegen._opt_level, cost="cheap"
        )
        passes.run(self._final_module, builder)


def _count_without_a_lock(module, op: str, ordering: str) -> ir.Function:
    """What numba calls to count a reference up or down (`op` add or sub), in the place of its own, which is atomic.

    An array that travels in a NamedTuple is counted at every call, and an atomic instruction, which locks the memory,
    is up to three quarters of a kernel's time. Kernels run under the interpreter's lock, one at a time in a process.
    numba has a switch for this, `_disable_atomicity`, that returns the old count, so that nothing is ever freed.
    """
    pointer = nrtdynmod._word_type.as_pointer()
    function = ir.Function(module, ir.FunctionType(nrtdynmod._word_type, [pointer]), name=f"nrt_atomic_{op}")
    builder = ir.IRBuilder(function.append_basic_block())
    count = getattr(builder, op)(builder.load(function.args[0]), ir.Constant(nrtdynmod._word_type, 1))
    builder.store(count, function.args[0])
    builder.ret(count)
    return function


def _array_alignment(kind) -> int:
    """Arrays of kernels begin where a processor's line does, or a vector of eight would lie in two; numba has 32."""
    return 64


@lower_constant(numba.types.Dispatcher)
def _(context, builder, typ, function):
    # Which function it is says the type; numba would write the address that it has in this process, and keep nothing.
    return context.get_dummy_value()


_numba_get_executable = cpu.CPUContext.get_executable
_numba_add_overload = dispatcher.Dispatcher.add_overload
_numba_compile = dispatcher.Dispatcher.compile
_numba_finalize_final_module = codegen.JITCodeLibrary._finalize_final_module
_numba_add_linking_library = codegen.CPUCodeLibrary.add_linking_library
_numba_optimize_final_module = codegen.CPUCodeLibrary._optimize_final_module
_numba_optimize_functions = codegen.CPUCodeLibrary._optimize_functions
dispatcher._FunctionCompiler._customize_flags = _customize_flags
cpu.CPUContext.get_executable = _get_executable
dispatcher.Dispatcher.add_overload = _add_overload
dispatcher.Dispatcher.compile = _compile
codegen.JITCodeLibrary._finalize_final_module = _finalize_final_module
codegen.CPUCodeLibrary._is_for_entry = False
codegen.CPUCodeLibrary.add_linking_library = _add_linking_library
codegen.CPUCodeLibrary._optimize_functions = _optimize_functions
codegen.CPUCodeLibrary._optimize_final_module = _optimize_final_module
cpu.CPUContext.get_preferred_array_alignment = staticmethod(_array_alignment)
# Read when the first kernel of a process is compiled.
nrtdynmod._define_atomic_inc_dec = _count_without_a_lock
