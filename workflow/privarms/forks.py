"""A run's local jobs start as forks: of one process a script, which has imported what the script's jobs import.

Most jobs are less work than the import of pandas and the plotting library. A fork knows nothing of any other job. An
edit of this library counts from the next job on, as it always does: `fork_server` looks for one before each job.
"""

import contextlib
import itertools
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path

import psutil
from snakemake.benchmark import BenchmarkRecord, benchmarked
from snakemake.script import PythonScript

from privarms.fork_server import Job

# Libraries for linear algebra read it once, when they are imported; Snakemake sets it for every job.
ONE_THREAD = {
    f"{name}_THREADS": "1"
    for name in ("OMP_NUM", "GOTO_NUM", "OPENBLAS_NUM", "MKL_NUM", "VECLIB_MAXIMUM", "NUMEXPR_NUM")
}
# A lock that another thread holds while a process is forked is never given back in the fork. This thread tidies up in
# an allocator that pyarrow brings along and does not use.
NO_THREADS = ONE_THREAD | {"JE_ARROW_MALLOC_CONF": "background_thread:false"}


def use(scripts: str) -> None:
    """From now on run the scripts in a folder by forks, where Snakemake would start Python anew; on Linux alone."""
    if not sys.platform.startswith("linux"):
        return
    folder = Path(scripts).resolve()
    # Scripts need different things, and what a job shares with its server counts as the job's memory.
    servers: dict[str, Server] = {}
    execute = PythonScript.execute_script

    def execute_script(self, fname, edit=False):
        ours = Path(self.path.get_path_or_uri(secret_free=True)).resolve().parent == folder
        server = servers.setdefault(self.path.get_filename(), Server())
        elsewhere = self.container_img or self.conda_env or self.env_modules or self.shadow_dir
        if not ours or elsewhere or self.threads != 1 or not server.alive():
            execute(self, fname, edit)
        else:
            server.run(fname, self.resources.get("tmpdir"), self.bench_record)

    PythonScript.execute_script = execute_script


@contextlib.contextmanager
def measured(pid: int, record: BenchmarkRecord | None) -> Iterator[None]:
    """Have Snakemake measure a process meanwhile, which may be over already; record: None where nobody asks."""
    began = time.time()
    with contextlib.ExitStack() as stack:
        gone = False
        if record is not None:
            try:
                stack.enter_context(benchmarked(pid, record))
            except psutil.NoSuchProcess:
                gone = True
        yield
    if gone:
        # What Snakemake's own measuring says of a process that was over before it looked.
        record.process_gone = True
        record.running_time = time.time() - began


class Server:
    """The process `fork_server`, which starts with the first job and ends with this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._answers: dict[int, queue.SimpleQueue] = {}
        self._process: subprocess.Popen | None = None

    def alive(self) -> bool:
        """Whether it runs or has not been needed yet."""
        return self._process is None or self._process.poll() is None

    def run(self, path: str, temporary: str | None, record: BenchmarkRecord | None) -> None:
        """Run a Python file; CalledProcessError if it fails. temporary: a folder; record: for what is measured."""
        environment = {**os.environ, **ONE_THREAD}
        if temporary:
            environment |= dict.fromkeys(("TMPDIR", "TMP", "TEMPDIR", "TEMP"), temporary)
        answers = queue.SimpleQueue()
        with self._lock:
            if self._process is None:
                self._start()
            number = next(self._numbers)
            self._answers[number] = answers
            try:
                self._asked.send(Job(number, path, os.getcwd(), environment))
            except OSError:
                # It has just gone, and `_listen` may have said so to all who were waiting then.
                answers.put(("ended", 1))
        said, value = answers.get()
        if said == "began":
            with measured(value, record):
                said, value = answers.get()
        if value:
            raise subprocess.CalledProcessError(value, f"{sys.executable} {path}")

    def _start(self) -> None:
        self._asked, theirs = Pipe()
        command = [sys.executable, "-P", "-m", "privarms.fork_server", str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env={**os.environ, **NO_THREADS})
        theirs.close()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                number, said, value = self._asked.recv()
                answers = self._answers.pop(number) if said == "ended" else self._answers[number]
                answers.put((said, value))
        # The server is gone, killed for its memory say, and nobody will say how its jobs end.
        self._process.wait()
        with self._lock:
            for answers in self._answers.values():
                answers.put(("ended", self._process.returncode or 1))
            self._answers.clear()
