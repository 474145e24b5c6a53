"""The process of which a script's jobs are forks, see `forks`: it holds what the last of them had to import.

If one had to compile a kernel, it holds besides what most kernels call, `privarms.inlined.in_advance`. An edit of this
library counts from the next job on: the process starts anew or, where other jobs are running, that job does.

`python -m privarms.fork_server N`, N the descriptor of a socket to the process that asks for jobs. It ends with that.
"""

import contextlib
import gc
import importlib
import multiprocessing
import os
import runpy
import signal
import sys
import sysconfig
from collections.abc import Iterable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

LIBRARY = Path(__file__).parent
# Whose modules may be held.
FOLDERS = (
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(LIBRARY) + os.sep,
)
# How kernels are compiled. Named and not imported: a server starts without numba.
COMPILING = f"{LIBRARY.name}.inlined"
FORK = multiprocessing.get_context("fork")


class Job(NamedTuple):
    """number: which request this is; path: of the Python file; folder: where it runs

    environment: its environment variables, all of them
    """

    number: int
    path: str
    folder: str
    environment: dict[str, str]


def serve(asking: Connection) -> None:
    """Start a process for each `Job` that comes; answer (number, "began", pid) and (number, "ended", exit code)."""
    # An interrupt of the terminal's is for the jobs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Pages that a collector has written to are no longer shared.
    gc.disable()
    imported: list[str] = []
    compiles = prepared = False
    at_start: dict[str, tuple] | None = looks()
    running: dict[Connection, tuple[Job, multiprocessing.Process]] = {}
    while True:
        for ready in wait([asking, *running]):
            if ready is not asking:
                job, process = running.pop(ready)
                with contextlib.suppress(EOFError):
                    modules, has_compiled = ready.recv()
                    imported += modules
                    compiles |= has_compiled
                ready.close()
                process.join()
                asking.send((job.number, "ended", process.exitcode))
                continue
            if not running and looks() != at_start:
                # What is asked waits in the socket.
                os.execv(sys.executable, [sys.executable, "-P", "-m", f"{LIBRARY.name}.fork_server", *sys.argv[1:]])
            try:
                job = asking.recv()
            except EOFError:
                return
            if imported:
                prepare(imported)
                imported = []
                if looks() != at_start:
                    # Nobody knows which text has been imported.
                    at_start = None
            if compiles and not prepared:
                prepare_kernels()
                prepared = True
            end, ends = FORK.Pipe(duplex=False)
            process = FORK.Process(target=run, args=(job, ends, at_start))
            process.start()
            ends.close()
            running[end] = job, process
            asking.send((job.number, "began", process.pid))


def prepare(modules: Iterable[str]) -> None:
    """Import what a job has imported; what cannot be, another job will find out."""
    for name in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()


def prepare_kernels() -> None:
    """Compile what most kernels call; what cannot be, a job will."""
    with contextlib.suppress(Exception):
        importlib.import_module(COMPILING).in_advance()
    gc.collect()
    gc.freeze()


def looks() -> dict[str, tuple]:
    """What an edit of the library's files changes of each of them."""
    found = {}
    for folder, _, names in os.walk(LIBRARY, followlinks=True):
        for name in names:
            # Editors leave links to nowhere beside a file, and files that are gone a moment later.
            with contextlib.suppress(OSError):
                if name.endswith(".py"):
                    told = os.stat(path := os.path.join(folder, name))
                    found[path] = (told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)
    return found


def run(job: Job, ends: Connection, at_start: dict[str, tuple] | None) -> None:
    """In a process of its own: run the job's file as a script, and send what it had to import, and if it compiled.

    at_start: what `looks` said before a job had imported anything, None for what no longer counts
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(job.environment)
    os.chdir(job.folder)
    sys.argv = [job.path]
    gc.enable()
    if looks() != at_start:
        # Its end is what says that the job has ended.
        os.set_inheritable(ends.fileno(), True)
        os.execv(sys.executable, [sys.executable, job.path])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    there = set(sys.modules)
    try:
        runpy.run_path(job.path, run_name="__main__")
    except KeyboardInterrupt:
        # As Python itself ends.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        with contextlib.suppress(OSError):
            modules = [name for name in sys.modules if name not in there and _may_be_held(name)]
            ends.send((modules, COMPILING in sys.modules and sys.modules[COMPILING].has_compiled()))


def _may_be_held(name: str) -> bool:
    file = getattr(sys.modules[name], "__file__", None)
    return bool(file) and file.startswith(FOLDERS)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
