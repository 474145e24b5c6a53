"""Start local jobs as forks of one process that has already imported the libraries of the scripts.

The module replaces `PythonScript.execute_script` of Snakemake. Snakemake starts jobs as usual if this is impossible, on
systems other than Linux, and with PRIVARMS_FORKSERVER=0. Results do not depend on it.
"""

import contextlib
import inspect
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
from multiprocessing import connection
from pathlib import Path

from snakemake.benchmark import benchmarked
from snakemake.script import PythonScript

# multiprocessing imports Snakemake's main module in every child.
PRELOADED = ["snakemake.cli", "privarms.runner.preloaded"]
# Linear algebra libraries read these at import. A background thread of pyarrow's jemalloc may own a lock at the fork.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
SERVER: dict[str, str] = dict.fromkeys(THREADS, "1")
SERVER["JE_ARROW_MALLOC_CONF"] = "background_thread:false"


def use(scripts: str) -> bool:
    """Run the Python scripts of a folder as forks; return False if unsafe."""
    execute = getattr(PythonScript, "execute_script", None)
    if execute is None or [*inspect.signature(execute).parameters] != ["self", "fname", "edit"]:
        return False
    if not sys.platform.startswith("linux") or os.environ.get("PRIVARMS_FORKSERVER") == "0":
        return False
    scripts = str(Path(scripts).resolve())
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    # Starting a process polls all others, and two threads must not poll the same process.
    lock = threading.Lock()
    before = dict(os.environ)
    os.environ.update(SERVER)
    try:
        context.Process(target=int).start()
    except (EOFError, OSError):
        # An OSError: the path of its socket, in TMPDIR, is limited to about 100 characters.
        return False
    finally:
        os.environ.clear()
        os.environ.update(before)

    def execute_script(self, fname, edit=False):
        ours = str(Path(self.path.get_path_or_uri(secret_free=True)).resolve().parent) == scripts
        elsewhere = self.container_img or self.conda_env or self.env_modules or self.shadow_dir
        if edit or not ours or elsewhere or self.threads != 1:
            return execute(self, fname, edit)
        begin, wait = context.Pipe()
        environment = {**os.environ, **SERVER, "TMPDIR": self.resources.get("tmpdir") or tempfile.gettempdir()}
        process = context.Process(target=_run, args=(fname, environment, wait), daemon=True)
        with lock:
            process.start()
        with benchmarked(process.pid, self.bench_record) if self.bench_record else contextlib.nullcontext():
            begin.send(True)  # the job waits until it is measured
            connection.wait([process.sentinel])
        with lock:
            process.join()
        if process.exitcode:
            raise subprocess.CalledProcessError(process.exitcode, f"{sys.executable} {fname}")

    PythonScript.execute_script = execute_script
    return True


def _run(path: str, environment: dict[str, str], wait) -> None:
    os.environ.clear()
    os.environ.update(environment)
    try:
        wait.recv()
        runpy.run_path(path, run_name="__main__")
    except KeyboardInterrupt:
        # Ctrl-C reaches every job of the terminal; the end of the run lists the jobs that it stopped.
        sys.exit(128 + signal.SIGINT)
