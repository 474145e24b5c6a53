"""A process that compiles for jobs: only what a job would compile itself, and only as long as somebody asks."""

import contextlib
import pickle
import signal
from multiprocessing import Pipe
from typing import NamedTuple

import numba
import numpy as np
import pytest

from privarms import compiler
from privarms.audits import released_number
from privarms.jit import cache as kept

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What a job asks for whose kernel is not there: the module's file, the settings, the types."""
    monkeypatch.setenv(kept.FOLDER_VARIABLE, str(tmp_path))
    found = []
    monkeypatch.setattr(compiler, "ask", lambda *request: found.append(request))
    kept._kept.cache_clear()
    kept.compiled(released_number._count)(1.0, 0.5, 3, np.random.default_rng(1))
    (request,) = found
    for file in request[0].parent.rglob("*.nb[ic]"):
        file.unlink()
    return request


def is_there(path):
    return bool(list(path.parent.rglob("*.nbc")))


def test_what_is_compiled_is_what_the_job_finds(asked):
    path, settings, signature = asked
    assert compiler.compile_kernel(path, settings, signature, lambda: True)
    assert is_there(path)
    kernel = kept.loaded(path)
    kernel(1.0, 0.5, 3, np.random.default_rng(1))
    assert (sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())) == (1, 0)


@pytest.mark.parametrize(("settings", "unchanged"), [(["another numba"], True), ([], False)])
def test_another_kernel_than_the_jobs_is_not_kept(asked, settings, unchanged):
    path, own, signature = asked
    assert not compiler.compile_kernel(path, settings or own, signature, lambda: unchanged)
    assert not is_there(path)


class Sums(NamedTuple):
    first: np.ndarray
    second: np.ndarray


def test_the_same_kernel_is_said_in_the_same_words(monkeypatch):
    heard = []

    class Server:
        def send(self, said):
            heard.append(said)

        def recv(self):
            return True

    monkeypatch.setattr(compiler, "server", Server())
    signature = (numba.typeof(Sums(np.zeros(1), np.zeros(1))), numba.typeof(np.random.default_rng(1)))
    # As another process has them.
    same = pickle.loads(pickle.dumps(signature))
    other = (numba.typeof(Sums(np.zeros(1), np.zeros(1, np.int64))), signature[1])
    text = "an option"
    # Equal, and one object or two: pickle writes it once or twice.
    settings, as_heard = [text, text], [text, text.encode().decode()]
    for path, said, types in (
        ("one.py", settings, signature),
        ("one.py", as_heard, same),
        ("one.py", settings, other),
        ("two.py", settings, signature),
    ):
        assert compiler.ask(path, said, types)
    words = [said[1] for said in heard]
    assert words[0] == words[1]
    assert len({*words}) == 3
    # Not by what is sent, which differs.
    assert heard[0][2] != heard[1][2]


def test_who_has_nobody_to_ask_is_told_so():
    assert compiler.ask("nowhere", [], ()) is False


@pytest.fixture
def served():
    """Serve here what was asked; the other end of the connection. What `serve` changes of the process is undone."""
    handler = signal.getsignal(signal.SIGINT)
    ours, its = Pipe()

    def serve(*requests):
        for request in requests:
            ours.send_bytes(request)
        compiler.serve(its, lambda: True)
        its.close()
        answers = []
        # What was asked and not read resets the connection.
        with contextlib.suppress(EOFError, OSError):
            while True:
                answers.append(ours.recv())
        return answers

    yield serve
    signal.signal(signal.SIGINT, handler)


def test_it_ends_when_nobody_asks_for_long(served, monkeypatch):
    monkeypatch.setattr(compiler, "MOST_SECONDS", 0.05)
    monkeypatch.setattr(compiler, "MOST_MEGABYTES", float("inf"))
    assert served(b"nonsense", b"more of it") == [False, False]


def test_it_ends_when_it_has_much_memory(served, monkeypatch):
    monkeypatch.setattr(compiler, "MOST_MEGABYTES", 0)
    assert served(b"nonsense", b"more of it") == [False]
