"""What a run says while it runs: at its start what it makes, from what and until when; then how far it is; at its end
what was found.

Snakemake's own lines about jobs go to its log file alone. Of the processes of a run only the one that the user started
says anything; the jobs do not come here.
"""

import logging
import os
import shlex
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

from privarms.claims import changes
from privarms.errors import PrivarmsError
from privarms.files.whole import write_text
from privarms.studies import forecast, paths
from privarms.studies.forecast import Job
from privarms.studies.outputs import duration
from privarms.studies.plan import Plan

INTERVAL = 30.0
MOST_CHANGES = 10
# Of a failed job's log: so many lines at its end are looked through for what went wrong.
LAST_LINES = 200
# Snakemake's lines without an event that a user is meant to read while jobs run, and those before that nobody needs.
INTERRUPTS = ("Terminating processes", "Will exit after")
KEPT = (*INTERRUPTS, "Trying to restart job", "Waiting at most")
BY_INTERRUPT = "died with <Signals.SIGINT"
NOT_NEEDED = ("Using shell:", "Conda environments: ignored", "Singularity containers: ignored")
OF_JOBS = {
    LogEvent.JOB_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_FINISHED,
    LogEvent.GROUP_INFO,
    LogEvent.PROGRESS,
    LogEvent.RESOURCES_INFO,
    LogEvent.RUN_INFO,
    LogEvent.SHELLCMD,
}
DATA = {"real": "real", "stand-in": "replaced by synthetic stand-ins", "missing": "missing"}
# What is made of a paper: rule -> one and several.
MADE = {
    "simulate_shard": ("simulation", "simulations"),
    "draw_figures": ("figure", "figures"),
    "write_tables": ("table", "tables"),
    "lay_out_tables": ("table", "tables"),
}


def quieten(workflow) -> "Quiet | None":
    """Keep Snakemake's lines about jobs off the terminal, in a run's main process.

    None elsewhere, in a dry run, and as a module of another workflow, which says what it wants to say.
    """
    ours = workflow.is_main_process and workflow.modifier.is_main_snakefile()
    if not ours or workflow.output_settings.dryrun:
        return None
    quiet = Quiet()
    for handler in logger.handlers:
        # A logger of the user's own (--logger) is left as it is.
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(quiet)
    return quiet


class Quiet(logging.Filter):
    """Lets errors, warnings and what this module says pass, and of Snakemake's own lines few."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs_run = False
        self.says_errors = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is shown."""
        if getattr(record, "of_progress", False):
            return True
        event, text = getattr(record, "event", None), str(record.msg)
        if record.levelno >= logging.WARNING:
            # The script has said why; that its exit status was 1 adds nothing.
            known = event is LogEvent.JOB_ERROR or "non-zero exit status 1." in text or BY_INTERRUPT in text
            return not (self.says_errors and known)
        if record.levelno < logging.INFO or event in OF_JOBS:
            return False
        return text.startswith(KEPT) if self.jobs_run else not text.startswith(NOT_NEEDED)


def say(text: str) -> None:
    """Say a line on the terminal, and in Snakemake's log."""
    logger.info(text, extra={"of_progress": True})


class Progress(logging.Handler):
    """How far a run is, from what Snakemake says of its jobs.

    jobs: those that are to be done; cores, local_cores: as `forecast.ends` takes them
    """

    def __init__(
        self,
        jobs: Mapping[int, Job],
        cores: int,
        local_cores: int | None = None,
        each: bool = False,
        finished: Callable[[str], str] = lambda paper: "",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(logging.INFO)
        self.jobs = jobs
        self.cores, self.local_cores = cores, local_cores
        self.each = each
        self.finished = finished
        self.now = now
        self.began = now()
        self.running: dict[int, float] = {}
        self.done: dict[int, float] = {}
        self.failed: dict[int, str] = {}
        self.interrupted = False
        self.left = Counter(job.paper for job in jobs.values())
        self._lock = threading.RLock()

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of a job that begins, ends or fails. What goes wrong here must not stop a run."""
        try:
            with self._lock:
                self._note(record)
        except Exception:
            self.handleError(record)

    def _note(self, record: logging.LogRecord) -> None:
        event, text = getattr(record, "event", None), str(record.msg)
        if text.startswith(INTERRUPTS) or BY_INTERRUPT in text:
            self.interrupted = True
        elif event is LogEvent.JOB_STARTED:
            self.running |= {n: self.now() for n in record.jobs if n in self.jobs}
            # One that failed is tried again, as on a cluster.
            for number in record.jobs:
                self.failed.pop(number, None)
        elif event is LogEvent.JOB_FINISHED and record.job_id in self.jobs:
            self._finish(self.jobs[record.job_id])
        elif event is LogEvent.JOB_ERROR and record.jobid in self.jobs:
            job = self.jobs[record.jobid]
            self.running.pop(job.number, None)
            if self.interrupted:
                return
            self.failed[job.number] = reason(record)
            say(f"failed: {described(job)}: {self.failed[job.number]}\n  log: {', '.join(record.log) or 'none'}")

    def _finish(self, job: Job) -> None:
        if job.number in self.done:
            return
        seconds = self.now() - self.running.pop(job.number, self.now())
        self.done[job.number] = seconds
        self.failed.pop(job.number, None)
        self.left[job.paper] -= 1
        if self.each:
            say(f"{clock()}  {len(self.done)} of {len(self.jobs)}  {described(job)}, {seconds:.1f} s")
        if job.paper and not self.left[job.paper]:
            more = self.finished(job.paper)
            say(f"{clock()}  {job.paper} is made{': ' if more else ''}{more}")

    def remaining(self) -> dict[int, float]:
        """number -> in how many seconds it is expected to be done, of the jobs that are neither done nor failed."""
        with self._lock:
            now, over = self.now(), {*self.done, *self.failed}
            factor = forecast.pace((self.jobs[n], s) for n, s in self.done.items())
            jobs = [job._replace(seconds=factor * job.seconds) for n, job in self.jobs.items() if n not in over]
            running = {n: now - began for n, began in self.running.items()}
        return forecast.ends(jobs, self.cores, self.local_cores, running)

    def line(self) -> str:
        """Done, left and the estimated end, of the run and of each paper."""
        found = self.remaining()
        with self._lock:
            done = len(self.done)
            papers = list(dict.fromkeys(job.paper for job in self.jobs.values() if job.paper))
            of_papers = []
            for paper in sorted(papers, key=lambda p: self._end(found, p)):
                all_of = [n for n, job in self.jobs.items() if job.paper == paper]
                made = sum(n in self.done for n in all_of)
                end = self._end(found, paper)
                if made == len(all_of):
                    of_papers.append(f"{paper} made")
                else:
                    of_papers.append(f"{paper} {made}/{len(all_of)}{f' until {clock(end)}' if end else ''}")
            failed = f", {len(self.failed)} failed" if self.failed else ""
        end = max(found.values(), default=0.0)
        until = f"about {rounded(end)} left, until {clock(end)}" if end else "ending"
        return f"{clock()}  {done} of {len(self.jobs)} jobs{failed}, {until}: {'; '.join(of_papers)}"

    def _end(self, found: Mapping[int, float], paper: str) -> float:
        return max((s for n, s in found.items() if self.jobs[n].paper == paper), default=0.0)

    def speak(self, interval: float = INTERVAL) -> "Speaker":
        """Say `line` every so many seconds, in a thread of its own, until the speaker is stopped."""
        return Speaker(self, interval)


class Speaker(threading.Thread):
    """Says how far a run is every so many seconds."""

    def __init__(self, progress: Progress, interval: float) -> None:
        super().__init__(name="privarms-progress", daemon=True)
        self._progress, self._interval = progress, interval
        self._over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.wait(self._interval):
            say(self._progress.line())

    def stop(self) -> None:
        """Say nothing more."""
        self._over.set()


def reason(record: logging.LogRecord) -> str:
    """What went wrong in a failed job: the last error in its log, or else what Snakemake knows."""
    for file in record.log:
        try:
            lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:]
        except OSError:
            continue
        errors = [line.split("error: ", 1)[1] for line in lines if " error: " in line]
        # The last line of a traceback.
        raised = [line for line in lines if line[:1].isalpha() and ": " in line and line.split(":")[0].isidentifier()]
        if errors or raised:
            return (errors or raised)[-1]
    return record.rule_msg or "it ended without a word in its log, as one does that is killed or out of memory"


def described(job: Job) -> str:
    """A job in words: its rule, its paper and what it makes."""
    return " ".join(part for part in (job.rule, job.paper, job.name) if part)


def clock(seconds: float = 0.0) -> str:
    """The time of day in so many seconds; with the day where it is not today."""
    then, today = time.localtime(time.time() + seconds), time.localtime()
    return time.strftime("%H:%M:%S" if not seconds else "%H:%M" if then[:3] == today[:3] else "%a %H:%M", then)


def jobs_in_words(count: int) -> str:
    """So many jobs."""
    return f"{count:,} job{'s' * (count != 1)}"


def rounded(seconds: float) -> str:
    """A duration as exactly as an estimate is."""
    if seconds < 60:
        return "a minute"
    if seconds < 5400:
        return duration(60 * round(seconds / 60)) if seconds >= 90 else "a minute"
    return f"{seconds / 3600:.1f} hours"


class Run:
    """A run from its start to its end. Made when it is planned; `start` is for `onstart`, where the jobs are known."""

    def __init__(self, workflow, plan: Plan) -> None:
        self.plan, self.began = plan, time.time()
        self._quiet = quieten(workflow)

    def start(self, workflow) -> None:
        """Say what the run will make; from now on say how far it is."""
        self.jobs, self.kept, self.known = jobs_of(workflow, self.plan)
        local = workflow.local_exec
        places = workflow.resource_settings
        self.cores = (places.cores if local else places.nodes) or 1
        self.progress = Progress(
            self.jobs,
            self.cores,
            None if local else places.local_cores or places.cores or 1,
            each=workflow.output_settings.verbose,
            finished=self._made,
        )
        self.local = local
        if self._quiet is not None:
            self._quiet.jobs_run, self._quiet.says_errors = True, local
        keep_previous_ledger(self.plan.scale, {job.rule for job in self.jobs.values()})
        for line in self.announced():
            say(line)
        logger.addHandler(self.progress)
        self.speaker = self.progress.speak()

    def announced(self) -> Iterator[str]:
        """What the run will make, from what data, and until when."""
        rules = Counter(job.rule for job in self.jobs.values())
        counts: Counter[tuple[str, str]] = Counter()
        for rule, words in MADE.items():
            counts[words] += rules[rule]
        made = [f"{n:,} {words[n != 1]}" for words, n in counts.items() if n]
        judged = {job.paper for job in self.jobs.values() if job.rule == "measure_claims"}
        claims = sum(len(self.plan.outputs.claims[paper]) for paper in judged)
        made += [f"{claims:,} claims judged"] * bool(claims)
        made += [word for word, rule in (("ledger", "build_ledger"), ("report", "build_report")) if rules[rule]]
        kept = f" ({jobs_in_words(self.kept)} of earlier runs need not run again)" if self.kept else ""
        jobs = jobs_in_words(len(self.jobs))
        yield f"privarms, scale {self.plan.scale}: {', '.join(made) or 'files'}, in {jobs}{kept}"
        statuses = self.plan.datasets.statuses
        data = [
            f"{', '.join(d for d, one in statuses.items() if one == status)} {words}"
            for status, words in DATA.items()
            if status in statuses.values()
        ]
        yield f"data: {'; '.join([*data, 'all else is simulated']) if data else 'everything is simulated'}"
        found = forecast.ends(list(self.jobs.values()), self.cores, self.progress.local_cores)
        end = max(found.values(), default=0.0)
        place = f"{self.cores} core{'s' * (self.cores != 1)}" if self.local else f"{self.cores} jobs at a time"
        by = (
            f"the times of {self.known:,} such jobs in benchmarks/"
            if self.known
            else "the costs that the policies state, for no earlier run here has left times"
        )
        yield f"time: about {rounded(end)} on {place}, until {clock(end)}, by {by}"
        for paper in self.plan.order.papers:
            own = [n for n, job in self.jobs.items() if job.paper == paper]
            if own:
                yield f"  {paper}: {jobs_in_words(len(own))}, until {clock(max(found[n] for n in own))}"

    def _made(self, paper: str) -> str:
        """Where what was made of a paper lies, and how its claims were judged."""
        rules = {job.rule for job in self.jobs.values() if job.paper == paper}
        folder = paths.results(self.plan.scale)
        rooms = {MADE[rule][1] for rule in rules & MADE.keys() - {"simulate_shard"}}
        said = [f"{folder}/{room}/{paper}" for room in sorted(rooms)]
        if "measure_claims" in rules:
            # What reads a ledger takes a second to import, which a run does not wait for at its start.
            from privarms.claims import ledger

            rows = ledger.read(paths.claims(self.plan.scale, paper))
            said.append(f"claims: {changes.counted(rows, 'verdict', ledger.VERDICTS)}")
        return "; ".join(said)

    def end(self, success: bool, log: str = "") -> None:
        """Say what was found, what changed, what failed and how to go on."""
        self.speaker.stop()
        logger.removeHandler(self.progress)
        done, failed = len(self.progress.done), self.progress.failed
        if not success:
            whole = f"{done:,} of {len(self.jobs):,} jobs are done and stay done"
            waiting = len(self.jobs) - done - len(failed)
            if failed:
                rest = f", {waiting:,} that come after {'it' if len(failed) == 1 else 'them'} did not run"
                say(f"{len(failed):,} failed{rest * bool(waiting)}; {whole}:")
                for number, why in failed.items():
                    say(f"  {described(self.jobs[number])}: {why}")
            else:
                say(f"{'Interrupted' if self.progress.interrupted else 'Stopped'}: {whole}.")
            mend = "Mend what is said there, then go on" if failed and not self.progress.interrupted else "Go on"
            say(f"{mend} with the same command: {command()}")
            if log:
                say(f"All that Snakemake said: {log}")
        for line in found(self.plan.scale, self.began):
            say(line)


def jobs_of(workflow, plan: Plan) -> tuple[dict[int, Job], int, int]:
    """The jobs of a run that write something, how many need not run, and by how many earlier jobs times are known."""
    dag = workflow.dag
    needed = {job for job in dag.needrun_jobs() if job.output}
    all_jobs = [job for job in dag.jobs if job.output]
    number = {job: dag.jobid(job) for job in needed}
    jobs, past, also = [], {}, []
    for job in all_jobs:
        wildcards = job.wildcards_dict
        paper = wildcards.get("paper", "")
        shard = wildcards.get("shard")
        work = plan.simulation.seconds(paper, shard) if shard else 0.0
        estimated = forecast.estimate(job.rule.name, work)
        kind = f"{job.rule.name} {paper} {shard.rsplit('-', 1)[0]}" if shard else job.rule.name
        seconds = forecast.past_seconds(job.benchmark and str(job.benchmark))
        if job not in needed:
            also += [(kind, estimated, seconds)] if seconds is not None else []
            continue
        if seconds is not None:
            past[number[job]] = seconds
        jobs.append(
            Job(
                number[job],
                job.rule.name,
                paper,
                " ".join(str(value) for key, value in wildcards.items() if key != "paper"),
                kind,
                estimated,
                estimated,
                job.priority,
                frozenset(number[needs] for needs in dag.dependencies[job] if needs in number),
                workflow.is_local(job.rule),
                tuple(map(str, job.log)),
            )
        )
    found = forecast.calibrate(jobs, past, also)
    return {job.number: job for job in found}, len(all_jobs) - len(needed), len(past) + len(also)


def keep_previous_ledger(scale: str, rules: set[str]) -> None:
    """Keep the ledger that this run will replace, for what it says at its end; an earlier one where there is none."""
    there = Path(paths.ledger(scale))
    if "build_ledger" in rules and there.is_file():
        write_text(paths.previous_ledger(scale), there.read_text(encoding="utf-8"))


def found(scale: str, began: float) -> Iterator[str]:
    """What a run found, if it made the ledger: statements by outcome, and verdicts that changed since the last one."""
    made = Path(paths.ledger(scale))
    if not made.is_file() or made.stat().st_mtime < began:
        return
    try:
        from privarms.claims import ledger

        rows, known = ledger.read(made), ledger.read_statements(paths.statements(scale))
        yield f"statements: {changes.counted(known, 'outcome', ledger.OUTCOMES)}, of {len(known):,}"
        yield f"claims: {changes.counted(rows, 'verdict', ledger.VERDICTS)}, of {len(rows):,}"
        previous = Path(paths.previous_ledger(scale))
        if previous.is_file():
            since = changes.compare(ledger.read(previous), rows)
            yield f"since the last run: {changes.sentence(since)}"
            yield from (f"  {line}" for line in changes.lines(since, MOST_CHANGES))
            if since.verdicts > MOST_CHANGES:
                yield f"  all of them: privarms ledger diff {previous} {made}"
    except (PrivarmsError, OSError) as error:
        yield f"what changed is not known: {error}"


def command() -> str:
    """The command that was typed."""
    return shlex.join([os.path.basename(sys.argv[0]).replace("__main__.py", "snakemake"), *sys.argv[1:]])
