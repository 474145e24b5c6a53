"""Processes that compile the kernels of a script's jobs: what several kernels take in is compiled once for all of them.

A job that has nobody to ask compiles by itself: one on a cluster, a program of a user's own. `fork_server` starts such
processes when jobs ask for them, and passes on what is asked and answered.
"""

import contextlib
import gc
import importlib
import pickle
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from privarms.edits import LIBRARY

# Named and not imported: a server starts without numba.
COMPILED = f"{LIBRARY.name}.jit.cache"
# What a process knows takes some 10 MB a kernel, LDPMAB more: 1.5 GB for all of a run. One with more than this ends, as
# does one that nobody needs any more.
MOST_MEGABYTES = 2000
MOST_SECONDS = 60

# Of a job: who passes on what it asks.
server: Connection | None = None


def ask(path: Path, settings: list[str], signature: tuple) -> bool:
    """Whether another process has compiled the kernel of a written module for arguments of these types.

    settings: `compiled.settings`, which must be those of that process
    """
    if server is None:
        return False
    # Whoever is asked may be gone. Then the job compiles, and says what is wrong if something is.
    with contextlib.suppress(Exception):
        # Of the same types two processes may write other bytes.
        server.send(("compile", f"{path} {signature}", pickle.dumps((path, settings, signature))))
        return server.recv()
    return False


def serve(asking: Connection, unchanged: Callable[[], bool]) -> None:
    """Compile what is asked for and answer whether that is done, as long as this process is needed.

    unchanged: whether the library's files are those that this process has imported, and those that it will import
    """
    # There is none on Windows, where nothing is forked.
    import resource

    # An interrupt of the terminal's is for the jobs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.enable()
    with contextlib.suppress(EOFError, OSError):
        while asking.poll(MOST_SECONDS):
            request = asking.recv_bytes()
            done = False
            with contextlib.suppress(Exception):
                done = compile_kernel(*pickle.loads(request), unchanged)
            asking.send(done)
            if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_MEGABYTES * 1024:
                return


def compile_kernel(path: Path, settings: list[str], signature: tuple, unchanged: Callable[[], bool]) -> bool:
    """Compile and keep the kernel of a written module; False where a job's would be another one."""
    compiled = importlib.import_module(COMPILED)
    if settings != list(compiled.settings()):
        return False
    try:
        kernel = compiled.loaded(path)
        # Only now, when the module has imported what it calls: what is kept under a text must be made of it.
        if unchanged():
            with compiled.inlined():
                kernel.compile(signature)
            return True
        return False
    finally:
        sys.modules.pop(path.stem, None)
