"""The process of which a script's jobs are forks, see `forks`: it holds what the script imports at its top, and what
the last jobs had to import besides.

Kernels that jobs need are compiled by a process beside it, `compiler`. An edit of this library counts from the next job
on: the process starts anew or, where other jobs are running, that job does.

`python -m privarms.fork_server N`, N the descriptor of a socket to the process that asks for jobs. It ends with that.
"""

import ast
import contextlib
import gc
import importlib.util
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

from privarms import compiler
from privarms.edits import AT_IMPORT, LIBRARY, looks

# Whose modules may be held.
FOLDERS = (
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(LIBRARY) + os.sep,
)
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
    """Start a process for each `Job` that comes; answer (number, "began", pid) and (number, "ended", exit code).

    Jobs send ("compile", kernel, request), which a bool answers, and at their end ("imported", names, whether they
    looked for kernels). While one that has said so takes its time to end, everything waits.
    """
    # An interrupt of the terminal's is for the jobs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Pages that a collector has written to are no longer shared.
    gc.disable()
    # What is to be imported before the next job; None before the first one.
    imported: list[str] | None = None
    calls_kernels = begun = False
    at_start: dict[str, tuple] | None = AT_IMPORT
    running: dict[Connection, tuple[Job, multiprocessing.Process]] = {}
    kernels = Kernels()
    # Who asks may be gone at any time. Connections to jobs must close then, for a job may wait for an answer.
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            for ready in wait([asking, *running, *kernels.connections()]):
                others = [asking, *running, *kernels.connections()]
                if ready in kernels.connections():
                    kernels.answer(ready)
                elif ready is not asking:
                    said, *values = heard(ready)
                    if said == "compile":
                        kernels.ask(*values, ready, at_start, others)
                        continue
                    imported += values[0]
                    calls_kernels |= values[1]
                    job, process = running.pop(ready)
                    ready.close()
                    process.join()
                    asking.send((job.number, "ended", process.exitcode))
                else:
                    if not running and looks() != at_start:
                        kernels.end()
                        # What is asked waits in the socket.
                        command = [sys.executable, "-P", "-m", f"{LIBRARY.name}.fork_server", *sys.argv[1:]]
                        os.execv(sys.executable, command)
                    job = asking.recv()
                    if imported is None:
                        imported = named(job.path)
                    if imported:
                        prepare(imported)
                        imported = []
                        if looks() != at_start:
                            # Nobody knows which text has been imported.
                            at_start = None
                    if calls_kernels and not begun:
                        prepare_for_kernels()
                        begun = True
                    ours, its = FORK.Pipe()
                    process = FORK.Process(target=run, args=(job, its, at_start, [*others, ours]))
                    process.start()
                    its.close()
                    running[ours] = job, process
                    asking.send((job.number, "began", process.pid))


def heard(job: Connection) -> tuple:
    """What a job says; one that has ended, or has started anew and ended, says nothing."""
    try:
        return job.recv()
    except (EOFError, OSError):
        return "imported", [], False


def named(path: str) -> list[str]:
    """What a Python file imports at its top and may be held, so that the first job need not import it for itself."""
    found: list[str] = []
    # What is wrong with it the job will say.
    with contextlib.suppress(Exception):
        for statement in ast.parse(Path(path).read_bytes()).body:
            if isinstance(statement, ast.Import):
                found += [alias.name for alias in statement.names]
            elif isinstance(statement, ast.ImportFrom) and not statement.level:
                # Of what it imports from there some may be modules.
                found += [statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)]
    return [name for name in found if _may_be_held(_file(name.partition(".")[0]))]


def prepare(modules: Iterable[str]) -> None:
    """Import what a job has imported or will; what cannot be, a job will find out."""
    for name in modules:
        package, _, last = name.rpartition(".")
        with contextlib.suppress(Exception, SystemExit):
            # As `from package import last` does: where the package has something of that name it need be no module.
            if not hasattr(sys.modules.get(package), last):
                importlib.import_module(name)
    gc.freeze()


def prepare_for_kernels() -> None:
    """Have numba begin, once for all jobs."""
    with contextlib.suppress(Exception):
        importlib.import_module(compiler.COMPILED).begin()
    gc.collect()
    gc.freeze()


class Kernels:
    """Processes `compiler.serve`, as many as jobs have asked at once but few, and the jobs that wait for answers."""

    MOST = 2

    def __init__(self) -> None:
        # The first one that is free is asked, so that it knows most.
        self._processes: dict[Connection, multiprocessing.Process] = {}
        # What each has been asked for, and the jobs that wait for it.
        self._waiting: dict[Connection, tuple[str, list[Connection]]] = {}

    def connections(self) -> list[Connection]:
        """What there may be an answer on."""
        return list(self._processes)

    def ask(
        self,
        kernel: str,
        request: bytes,
        job: Connection,
        at_start: dict[str, tuple] | None,
        others: list[Connection],
    ) -> None:
        """Have a job's kernel compiled.

        kernel: which one it is; request: to `compiler.serve`; others: connections that are not for a process to hold
        """
        for compiled, jobs in self._waiting.values():
            # Two jobs that begin at once often call the same.
            if compiled == kernel:
                jobs.append(job)
                return
        asked = next((one for one in self._processes if one not in self._waiting), None)
        if asked is None and len(self._processes) < self.MOST:
            # There may be no more processes to be had.
            with contextlib.suppress(OSError):
                asked = self._start(at_start, others)
        if asked is None:
            say(job, False)
            return
        self._waiting[asked] = kernel, [job]
        # Where it has just ended there will be no answer, which `answer` finds.
        with contextlib.suppress(OSError):
            asked.send_bytes(request)

    def _start(self, at_start: dict[str, tuple] | None, others: list[Connection]) -> Connection:
        ours, its = FORK.Pipe()
        process = FORK.Process(target=compile_kernels, args=(its, at_start, [*others, ours]), daemon=True)
        process.start()
        its.close()
        self._processes[ours] = process
        return ours

    def answer(self, asked: Connection) -> None:
        """Pass on an answer or, where the process has ended, that there is none."""
        try:
            done = asked.recv()
        except (EOFError, OSError):
            done = False
            self._end(asked)
        for job in self._waiting.pop(asked, ("", []))[1]:
            say(job, done)

    def end(self) -> None:
        """End all processes; no job is running."""
        for asked in self.connections():
            self._end(asked)
        self._waiting.clear()

    def _end(self, asked: Connection) -> None:
        process = self._processes.pop(asked)
        process.kill()
        process.join()
        asked.close()


def say(job: Connection, done: bool) -> None:
    """Answer a job, which may be gone."""
    with contextlib.suppress(OSError):
        job.send(done)


def compile_kernels(asking: Connection, at_start: dict[str, tuple] | None, others: Iterable[Connection]) -> None:
    """In a process of its own: `compiler.serve`. others: connections that are not for it to hold."""
    for connection in others:
        connection.close()
    compiler.serve(asking, lambda: looks() == at_start)


def run(job: Job, server: Connection, at_start: dict[str, tuple] | None, others: Iterable[Connection]) -> None:
    """In a process of its own: run the job's file as a script; send what it had to import, if it looked for kernels.

    at_start: what `looks` said before a job had imported anything, None for what no longer counts
    others: connections that are not for this process to hold
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for connection in others:
        connection.close()
    os.environ.clear()
    os.environ.update(job.environment)
    os.chdir(job.folder)
    sys.argv = [job.path]
    gc.enable()
    if looks() != at_start:
        # Its end is what says that the job has ended.
        os.set_inheritable(server.fileno(), True)
        os.execv(sys.executable, [sys.executable, job.path])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    compiler.server = server
    there = set(sys.modules)
    try:
        runpy.run_path(job.path, run_name="__main__")
    except KeyboardInterrupt:
        # As Python itself ends.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        with contextlib.suppress(OSError):
            new = {name: module for name, module in sys.modules.items() if name not in there}
            names = [name for name, module in new.items() if _may_be_held(getattr(module, "__file__", None))]
            compiled = sys.modules.get(compiler.COMPILED)
            server.send(("imported", names, compiled is not None and compiled.has_looked()))


def _file(package: str) -> str | None:
    with contextlib.suppress(ImportError, ValueError):
        return getattr(importlib.util.find_spec(package), "origin", None)
    return None


def _may_be_held(file: str | None) -> bool:
    return bool(file) and file.startswith(FOLDERS)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
