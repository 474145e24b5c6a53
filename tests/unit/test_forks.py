"""Jobs as forks of one process a script: each for itself, and what one has imported is there for the next."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import psutil
import pytest
from snakemake.benchmark import BenchmarkRecord, benchmarked
from snakemake.script import PythonScript

import privarms
from privarms import fork_server, forks
from privarms.audits import released_number
from privarms.forks import ONE_THREAD, Server, use

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks are for Linux")


@pytest.fixture
def server():
    server = Server()
    yield server
    if server._process is not None:
        server._process.kill()
        server._process.wait()


@pytest.fixture
def run(server, tmp_path):
    """run(text) -> what a script with that text wrote into its file `said`."""
    said = tmp_path / "said"

    def run(text, temporary=None, record=None):
        path = tmp_path / "tmp.draw.py"
        path.write_text(f"from pathlib import Path\nsaid = Path({str(said)!r})\n{text}\n")
        said.unlink(missing_ok=True)
        server.run(str(path), temporary, record)
        return said.read_text() if said.exists() else None

    return run


# Within a block: what stands at the top is there before the first job.
SAY_WHETHER_IMPORTED = """
import sys
said.write_text(str("colorsys" in sys.modules))
if True:
    import colorsys
"""


def test_a_job_finds_what_the_last_one_imported(run):
    assert run(SAY_WHETHER_IMPORTED) == "False"
    assert run(SAY_WHETHER_IMPORTED) == "True"


def test_a_job_finds_what_it_imports_at_its_top(run):
    say = (
        "import sys\nthere = 'colorsys' in sys.modules\nimport nobody.knows, colorsys as c\nsaid.write_text(str(there))"
    )
    with pytest.raises(subprocess.CalledProcessError):
        run(say)
    assert run(say.replace("nobody.knows, ", "")) == "True"


def test_what_is_named_is_a_module_or_in_one(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from privarms.studies import library, run\nfrom privarms.errors import PrivarmsError\nimport json.decoder\n"
        "from .beside import this\nimport nobody.knows\nx = 1\nglobal x\nif x:\n    import colorsys\n"
    )
    named = fork_server.named(str(script))
    assert named == [
        "privarms.studies",
        "privarms.studies.library",
        "privarms.studies.run",
        "privarms.errors",
        "privarms.errors.PrivarmsError",
        "json.decoder",
    ]


def test_only_modules_are_imported(tmp_path, monkeypatch):
    """`from package import one`, where that is a function in the package, and a module beside it."""
    package = tmp_path / "package_of_test"
    package.mkdir()
    (package / "__init__.py").write_text("def one():\n    pass\n")
    (package / "one.py").write_text("")
    (package / "two.py").write_text("raise SystemExit\n")
    (package / "three.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    names = ["package_of_test", *(f"package_of_test.{name}" for name in ("one", "two", "three", "four"))]
    monkeypatch.setattr(fork_server.gc, "freeze", lambda: None)
    fork_server.prepare(names)
    found = sys.modules["package_of_test"]
    assert callable(found.one)
    assert "package_of_test.three" in sys.modules
    assert not hasattr(found, "four")
    for name in [name for name in sys.modules if name.startswith("package_of_test")]:
        monkeypatch.delitem(sys.modules, name)


def test_a_file_that_is_not_python_is_the_job_s_own_fault(run):
    with pytest.raises(subprocess.CalledProcessError):
        run("import colorsys; from")
    assert run(SAY_WHETHER_IMPORTED) == "False"


def test_a_job_leaves_nothing_but_imports(run):
    leave = "import colorsys, os\ncolorsys.left = os.environ['LEFT'] = 'here'\nos.chdir('/')\n"
    assert run(leave) is None
    assert run("import colorsys, os\nsaid.write_text(repr((hasattr(colorsys, 'left'), 'LEFT' in os.environ)))") == repr(
        (False, False)
    )


def test_an_edit_of_what_is_not_installed_counts_from_the_next_job_on(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ours = tmp_path / "edited_between_jobs.py"
    say = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport edited_between_jobs as m\nsaid.write_text(m.WORD)"
    ours.write_text("WORD = 'before'")
    assert run(say) == "before"
    ours.write_text("WORD = 'afterwards'")
    assert run(say) == "afterwards"


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A copy of the library, which jobs import."""
    copy = tmp_path / "library" / "privarms"
    shutil.copytree(Path(privarms.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("PYTHONPATH", str(copy.parent))
    # Python tells a text from its kept bytecode by seconds and size alone.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return copy


def test_an_edit_of_the_library_counts_from_the_next_job_on(run, library):
    say = "import importlib, sys\nthere = 'privarms.verdict' in sys.modules\n"
    say += "v = importlib.import_module('privarms.verdict')\n"
    say += "said.write_text(repr((there, v.__file__, getattr(v, 'EDITED', 0))))"
    file = library / "verdict.py"
    assert [eval(run(say)) for _ in range(2)] == [(False, str(file), 0), (True, str(file), 0)]
    file.write_text(f"{file.read_text()}\nEDITED = 1\n")
    # The process itself starts anew, and holds the new text.
    assert [eval(run(say)) for _ in range(2)] == [(False, str(file), 1), (True, str(file), 1)]
    before = file.stat()
    file.write_text(file.read_text().replace("EDITED = 1", "EDITED = 2"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert eval(run(say)) == (False, str(file), 2)


def test_links_to_nowhere_beside_the_library_are_no_fault(run, library):
    say = "import importlib, sys\nsaid.write_text(str('privarms.verdict' in sys.modules))\n"
    say += "importlib.import_module('privarms.verdict')"
    (library / ".#verdict.py").symlink_to("nobody@nowhere.1")
    assert [run(say) for _ in range(2)] == ["False", "True"]
    (library / ".#ledger.py").symlink_to("nobody@nowhere.1")
    assert run(say) == "True"


@pytest.fixture
def held_up(server, library, tmp_path):
    """A server that runs another job while the library is edited, so that it cannot start anew itself."""
    there, gone, job = tmp_path / "there", tmp_path / "gone", tmp_path / "waits.py"
    job.write_text(
        f"import privarms.verdict, time\nfrom pathlib import Path\nPath({str(there)!r}).touch()\n"
        f"for _ in range(200):\n    if Path({str(gone)!r}).exists():\n        break\n    time.sleep(0.05)\n"
    )
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.run, str(job), None, None)
        while not there.exists() and not waiting.done():
            time.sleep(0.05)
        (library / "verdict.py").touch()
        yield
        gone.touch()
        waiting.result()


def test_a_module_that_is_new_in_the_library_counts_too(run, library):
    run("import privarms.verdict")
    (library / "mechanisms" / "brand_new.py").write_text("SAID = 'here'\n")
    say = "import sys\nthere = 'privarms.verdict' in sys.modules\nfrom privarms.mechanisms.brand_new import SAID\n"
    assert run(f"{say}said.write_text(SAID + str(there))") == "hereFalse"


@pytest.mark.parametrize(
    ("end", "status"),
    [("sys.exit(3)", 3), ("os.kill(os.getpid(), signal.SIGINT); signal.pause()", -signal.SIGINT)],
)
def test_a_job_that_starts_anew_says_how_it_ends(run, held_up, tmp_path, monkeypatch, end, status):
    run("import privarms.verdict")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OF_THIS_RUN", "so")
    say = "import os, sys\nfound = os.environ.get('OF_THIS_RUN'), os.getcwd(), sys.argv, 'privarms' in sys.modules"
    assert eval(run(f"{say}\nsaid.write_text(repr(found))")) == (
        *("so", str(tmp_path), [str(tmp_path / "tmp.draw.py")]),
        False,
    )
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(f"import os, signal, sys\nsignal.alarm(20)\n{end}")
    assert caught.value.returncode == status


def test_jobs_that_start_anew_run_side_by_side(server, held_up, tmp_path):
    meet(server, tmp_path)


CALL_A_KERNEL = """
import os, psutil, signal, sys
# A job that waits for nobody fails, and does not hold up all tests.
signal.alarm(60)
import numpy as np
from privarms import compiler
from privarms.audits import released_number
from privarms.jit.cache import compiled

def others():
    return [p for p in psutil.Process(os.getppid()).children() if p.pid != os.getpid()]

def kernel():
    (module,) = (module for name, module in sys.modules.items() if name.startswith("kernel_"))
    return module.call

def one(rng):
    return compiled(released_number._count)(1.0, 0.5, 3, rng)
"""
SAY_WHO_COMPILED = """
value = one(np.random.default_rng(1))
said.write_text(repr((value, sum(kernel().stats.cache_misses.values()), [p.pid for p in others()])))
"""
needs_a_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    place = tmp_path / "kernels"
    monkeypatch.setenv("PRIVARMS_KERNELS", str(place))
    return place


@needs_a_compiler
def test_another_process_compiles_what_a_job_needs_and_is_there_for_the_next(run, kernels):
    expected = released_number._count(1.0, 0.5, 3, np.random.default_rng(1))
    value, misses, others = eval(run(CALL_A_KERNEL + SAY_WHO_COMPILED))
    assert (value, misses, len(others)) == (expected, 0, 1)
    # It is gone from the disk, so that it must be compiled once more.
    shutil.rmtree(kernels)
    assert eval(run(CALL_A_KERNEL + SAY_WHO_COMPILED)) == (expected, 0, others)


@needs_a_compiler
def test_what_numba_does_once_a_process_it_does_for_all_jobs_that_call_kernels(run, kernels):
    say = "from privarms import compiled\nsaid.write_text(str(len(compiled._first.overloads)))"
    assert [run(say) for _ in range(2)] == ["0", "0"]
    run(f"{CALL_A_KERNEL}one(np.random.default_rng(1))")
    assert run(say) == "1"


@needs_a_compiler
def test_a_job_compiles_where_who_would_is_gone(run, kernels):
    value, _, others = eval(run(CALL_A_KERNEL + SAY_WHO_COMPILED))
    shutil.rmtree(kernels)
    (pid,) = others
    # Asked while it is held up, it is killed before it answers.
    kill = """
class Killing:
    def send(self, request):
        server.send(request)
    def recv(self):
        others()[0].kill()
        return server.recv()

others()[0].suspend()
server, compiler.server = compiler.server, Killing()
"""
    try:
        found, misses, _ = eval(run(CALL_A_KERNEL + kill + SAY_WHO_COMPILED))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert (found, misses) == (value, 1)
    # And the next one has one again.
    shutil.rmtree(kernels)
    found, misses, others = eval(run(CALL_A_KERNEL + SAY_WHO_COMPILED))
    assert (found, misses, len(others), pid in others) == (value, 0, 1, False)


@needs_a_compiler
def test_a_kernel_that_cannot_be_compiled_is_the_jobs_own_error(run, kernels, capfd):
    with pytest.raises(subprocess.CalledProcessError):
        run(CALL_A_KERNEL + "compiled(released_number._count)('a', 'b', 3, np.random.default_rng(1))")
    assert "TypingError" in capfd.readouterr().err


@needs_a_compiler
def test_what_was_imported_before_an_edit_is_not_kept_under_what_it_says_since(run, library, kernels):
    say = "import privarms\nsaid.write_text(repr((one(np.random.default_rng(1)), privarms.__file__)))"
    before, file = eval(run(CALL_A_KERNEL + say))
    assert file == str(library / "__init__.py")
    source = library / "audits" / "released_number.py"
    edit = f"from pathlib import Path\nplace = Path({str(source)!r})\n"
    edit += "place.write_text(place.read_text().replace('return events', 'return events + 1000'))\n"
    assert [eval(run(CALL_A_KERNEL + more + say))[0] for more in (edit, "")] == [before, before + 1000]


@needs_a_compiler
def test_a_job_whose_asker_is_gone_compiles_and_ends(kernels, tmp_path):
    there, gone, said, job = (tmp_path / name for name in ("there", "gone", "said", "job.py"))
    job.write_text(
        f"from pathlib import Path\n{CALL_A_KERNEL}\nimport time\nPath({str(there)!r}).write_text(str(os.getppid()))\n"
        f"for _ in range(200):\n    if Path({str(gone)!r}).exists():\n        break\n    time.sleep(0.05)\n"
        f"Path({str(said)!r}).write_text(repr(one(np.random.default_rng(1))))\n"
    )
    asking = f"from privarms.forks import Server\nServer().run({str(job)!r}, None, None)\n"
    asker = subprocess.Popen([sys.executable, "-c", asking])
    wait_for(lambda: there.exists() and there.read_text(), "the job")
    asker.kill()
    asker.wait()
    gone.touch()
    wait_for(said.exists, "what the job says")
    server = Path("/proc") / there.read_text() / "cmdline"
    wait_for(lambda: not server.exists() or b"fork_server" not in server.read_bytes(), "the server's end")


def wait_for(condition, what):
    for _ in range(400):
        with contextlib.suppress(OSError):
            if condition():
                return
        time.sleep(0.05)
    pytest.fail(f"{what}: not within 20 s")


def test_few_processes_compile_at_once(monkeypatch):
    monkeypatch.setattr(fork_server, "compile_kernels", lambda asking, *_: asking.poll(None))
    processes = fork_server.Kernels()
    jobs = [fork_server.FORK.Pipe() for _ in range(fork_server.Kernels.MOST + 1)]
    try:
        for number, (ours, _) in enumerate(jobs):
            processes.ask(str(number), bytes([number]), ours, None, [])
        assert [its.poll(0) for _, its in jobs] == [False] * fork_server.Kernels.MOST + [True]
        assert jobs[-1][1].recv() is False
        # It has ended without an answer, and its job is told.
        (first, *_) = processes.connections()
        processes.answer(first)
        assert jobs[0][1].poll(5)
        assert jobs[0][1].recv() is False
        assert len(processes.connections()) == fork_server.Kernels.MOST - 1
    finally:
        processes.end()
    assert processes.connections() == []


def test_one_process_compiles_what_two_jobs_ask_for(monkeypatch):
    def compile_kernels(asking, *_):
        asking.recv_bytes()
        asking.send(True)
        asking.poll(None)

    monkeypatch.setattr(fork_server, "compile_kernels", compile_kernels)
    processes = fork_server.Kernels()
    jobs = [fork_server.FORK.Pipe() for _ in range(3)]
    try:
        for number, (ours, _) in enumerate(jobs):
            # In other bytes, as jobs may write the same types.
            processes.ask("the same", bytes([number]), ours, None, [])
        (only,) = processes.connections()
        assert only.poll(5)
        processes.answer(only)
        assert [its.recv() for _, its in jobs if its.poll(5)] == [True] * 3
        # It is free again.
        processes.ask("another", b"", jobs[0][0], None, [])
        assert processes.connections() == [only]
    finally:
        processes.end()


def test_environment_folder_and_arguments_are_the_jobs_own(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OF_THIS_RUN", "so")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    say = "import os, sys\nsaid.write_text(repr((dict(os.environ), os.getcwd(), sys.argv, __name__)))"
    found, folder, arguments, name = eval(run(say, temporary="/tmp/of-a-job"))
    assert found == {**os.environ, **ONE_THREAD, **dict.fromkeys(("TMPDIR", "TMP", "TEMPDIR", "TEMP"), "/tmp/of-a-job")}
    assert (folder, arguments, name) == (str(tmp_path), [str(tmp_path / "tmp.draw.py")], "__main__")
    monkeypatch.delenv("OF_THIS_RUN")
    assert "OF_THIS_RUN" not in eval(run(say))[0]


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("sys.exit(3)", 3),
        ("sys.exit('in words')", 1),
        ("raise ValueError('bad')", 1),
        ("os.kill(os.getpid(), 9)", -9),
        # As one who waits for a script of Python's sees it.
        ("os.kill(os.getpid(), signal.SIGINT); signal.pause()", -signal.SIGINT),
    ],
)
def test_a_job_that_fails_says_how(run, capfd, end, status):
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(f"import os, signal, sys\n{end}")
    assert caught.value.returncode == status
    assert ("bad" in capfd.readouterr().err) == ("bad" in end)
    assert run("said.write_text('the next one')") == "the next one"


def test_a_server_that_is_killed_fails_its_jobs_and_is_not_asked_again(run, server):
    run("pass")
    assert server.alive()
    with pytest.raises(subprocess.CalledProcessError):
        run("import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(1)")
    assert not server.alive()
    # One who has asked whether it is alive a moment before.
    with pytest.raises(subprocess.CalledProcessError):
        run("pass")


def test_a_server_ends_with_the_process_that_asks(tmp_path):
    job = tmp_path / "tmp.draw.py"
    job.write_text("pass")
    asking = f"from privarms.forks import Server\ns = Server()\ns.run({str(job)!r}, None, None)\n"
    asking += "print(s._process.pid, flush=True)\nimport os\nos.kill(os.getpid(), 9)"
    found = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True)
    assert found.returncode == -9
    for _ in range(200):
        try:
            command = Path(f"/proc/{int(found.stdout)}/cmdline").read_bytes()
        except OSError:
            break
        if b"fork_server" not in command:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the server is still there")


def test_jobs_run_side_by_side(server, tmp_path):
    meet(server, tmp_path)


def meet(server, tmp_path):
    """Two jobs, each of which ends when the other is there."""
    waits = "import time\nfrom pathlib import Path\nPath({mine!r}).touch()\nfor _ in range(200):\n"
    waits += "    if Path({other!r}).exists():\n        break\n    time.sleep(0.05)\nelse:\n    raise SystemExit(1)\n"
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    for mine, its in ((one, other), (other, one)):
        Path(f"{mine}.py").write_text(waits.format(mine=mine, other=its))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(server.run, f"{one}.py", None, None)
        while not Path(one).exists() and not first.done():
            time.sleep(0.05)
        server.run(f"{other}.py", None, None)
        first.result()


def test_a_job_is_measured(run):
    record = BenchmarkRecord()
    run("import time\nheld = bytearray(200_000_000)\ntime.sleep(0.7)", record=record)
    assert record.running_time > 0.5
    assert record.max_rss > 200


def test_a_job_that_is_over_before_it_can_be_measured_is_no_fault(run, monkeypatch):
    def late(pid, record):
        wait_for(lambda: not psutil.pid_exists(pid), "the job's end")
        return benchmarked(pid, record)

    monkeypatch.setattr(forks, "benchmarked", late)
    record = BenchmarkRecord()
    assert run("import time\ntime.sleep(0.1)\nsaid.write_text('done')", record=record) == "done"
    seconds, *_, load, processor_time = record.to_tsv(extended_fmt=False).split("\t")
    assert float(seconds) >= 0.1
    assert load == processor_time == "NA"


def test_a_script_shares_nothing_with_another_one(tmp_path, monkeypatch):
    # What Snakemake does otherwise; gone after the test, as is what `use` puts there.
    monkeypatch.setattr(PythonScript, "execute_script", lambda self, *_: pytest.fail("not a fork"))
    use(str(tmp_path))
    said = tmp_path / "said"

    def run(script):
        path = tmp_path / script
        path.write_text(f"from pathlib import Path\nsaid = Path({str(said)!r})\n{SAY_WHETHER_IMPORTED}")
        source = SimpleNamespace(get_path_or_uri=lambda secret_free: str(path), get_filename=lambda: script)
        asked = SimpleNamespace(path=source, threads=1, resources={}, bench_record=None)
        for there in ("container_img", "conda_env", "env_modules", "shadow_dir"):
            setattr(asked, there, None)
        PythonScript.execute_script(asked, str(path))
        return said.read_text()

    assert [run(script) for script in ("draw.py", "draw.py", "write.py", "draw.py")] == [
        "False",
        "True",
        "False",
        "True",
    ]


def test_forks_are_of_a_process_with_one_thread(run):
    needs = "import numba, numpy, pandas, pyarrow.parquet, scipy.stats, matplotlib.pyplot, privarms.protocols.bandit\n"
    threads = "import os\nsaid.write_text(str(len(os.listdir(f'/proc/{os.getppid()}/task'))))\n"
    run(needs)
    assert run(threads + needs) == "1"
