"""The command `privarms`. Each subcommand imports its modules only when it runs, so `--help` is quick."""

import argparse
import errno
import math
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from privarms import __version__
from privarms.errors import PrivarmsError

# As `Count` in planning/studies.py.
MOST = 10**15
AUDIT = """\
Run the audits of SUBJECT. For each setting print the claimed privacy loss, a lower bound on the loss from the
trials, and the same bound for weakened controls, which have less noise. In the project's folder the settings are
those of config/papers at quick scale. Exit status 1 if a subject is not private as claimed.

Elsewhere, and for policies without an audit in a study, the audit of the policy's family runs. It searches many
neighbouring inputs and many events for those that differ most, and counts these in fresh runs. The inputs differ in one
reward or user; they have 2 to 5 arms, 64 to 512 rounds and three budgets. This takes one or two minutes of a core; a
slow policy gets fewer trials, but at least 500. --thorough takes about ten minutes, or as long as --trials need.

  privarms audit dp_se
  privarms audit private_halving --extension examples/my_bandits
  privarms audit private_halving --extension examples/my_bandits --save worst.json
  privarms audit --replay worst.json --extension examples/my_bandits --trials 100000"""
CORRECT = """\
HISTORY is a CSV file with the columns arm (0, 1, ...) and reward (in [0, 1]), one line per round in order; - is the
standard input. The arms were chosen by an epsilon-reward-private bandit (delta = 0). For each tested arm print its
pulls, its mean and two one-sided p-values of the null that its mean is at most --null. The first ignores that the arms
were chosen adaptively. The second stays valid, by max-information (Neel and Roth 2018, section 4: Theorems 3 and 4).

Without --arm the corrected p-values are valid for all arms together (Bonferroni), so the smallest one is valid too.
With --arm only that arm is tested, which is more powerful. That p-value is valid only for an arm that was fixed
beforehand or chosen from the pulls only. It is not valid for an arm chosen by rewards, means or p-values.

No corrected p-value is below --beta, and few reject if epsilon^2 T is much above 2. Then, or if the bandit is not
private, use an e-value (docs/own-data.md, Any other bandit).

  privarms correct history.csv --epsilon 0.1
  privarms correct history.csv --epsilon 0.1 --arm most-pulled
  gunzip -c history.csv.gz | privarms correct - --epsilon 0.1"""
CHECK = """\
Plan the studies of an extension and run each of its policies for up to 100 rounds, with checks of array bounds.
Exit status 1 if anything failed (docs/extend.md)."""
COMPARE = """\
Run the bandits of an extension and the published private bandits on the Bernoulli instances mu1 to mu5 of Azize and
Basu (2022) and Azize et al. (2025), or on arms of your own. Print ranks, regret, regret divided by the lower bound (of
Bernoulli arms only), and differences from the best published policy. Audit every policy with an epsilon, and print the
verdict and what the audit changed. Write OUTPUT.csv, .png, .pdf and .svg. Exit status 1 if a policy of your own is not
private as claimed.

Two policies are tied if the interval of the difference between their mean regrets contains 0. The intervals of all
differences, on all instances of an epsilon and a horizon, are valid together (95%, Bonferroni). A policy's rank is 1,
plus 1 for each better policy and 1/2 for each tied one; the mean rank is over the instances. With more --replicates
fewer policies are tied.

A list of budgets or horizons has commas. Each pair has ranks of its own.

  privarms compare examples/my_bandits
  privarms compare examples/my_bandits --means 0.9,0.5,0.1 --epsilon 0.1,1
  privarms compare examples/my_bandits --environment beta_rewards --set top=0.75 --set bottom=0.25 --K 10"""
NEW = """\
Write FOLDER/policies/bandit/NAME.py, a working private bandit. Edit this file, then compare your bandit.

  privarms new policy my_bandit
  privarms compare my_bandits"""
CRATE = """\
Pack a finished run in this folder as a Workflow Run RO-Crate, one zip file. It contains results, ledger, workflow,
library, configuration, locked versions, the log, time and memory of each job, and a README.md. It contains no raw
data, and of an extension only what the library reads. Print the list of what was packed. Run the command in the folder
of the run, with the run's own --configfile.
`make crate` packs quick scale."""
DATA = """\
Fetch the raw files of data/sources.yaml that are not in data/raw, from the mirror or their address, and verify all of
them. Print for each file whether it is there, was fetched, is wrong, or how to get it. Exit status 1 if one is wrong.
Run it in the project's folder, for example before a run on nodes without internet.

  make data"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    0, 1 if something failed, 2 for bad input, 130 after Ctrl-C, 143 after SIGTERM, which removes incomplete files
    """
    received: list[int] = []

    def stop(number: int, _frame) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        status = _run(arguments)
    except BaseException:
        # A package whose import is interrupted may raise an error of its own.
        if not received:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        print("interrupted", file=sys.stderr)
        return 128 + received[0]
    return status


def _run(arguments: Sequence[str] | None) -> int:
    try:
        try:
            options = parser().parse_args(arguments)
            return options.run(options)
        finally:
            # At the end of Python, an output that cannot be written would be a traceback.
            if sys.stdout is not None:
                sys.stdout.flush()
    except PrivarmsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # `privarms ... | head` closes the pipe before the end.
        _discard_output()
        return 0
    except OSError as error:
        if error.filename is not None:
            # A file or folder that the user named.
            print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        elif error.errno in (errno.ENOSPC, errno.EDQUOT):
            print(f"error: output: {error.strerror}", file=sys.stderr)
            _discard_output()
        else:
            raise
        return 2


def _discard_output() -> None:
    """Let Python write at its end what it still has in its buffers, without a further error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        os.dup2(nowhere, stream.fileno())


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="privarms",
        description="Tools for private bandits: audit a policy, compare your own bandits with published ones, correct "
        "p-values for adaptive choice, check an extension, pack a run. "
        "To run the papers, use Snakemake (README.md).",
    )
    top.add_argument("--version", action=_Version)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    audit = _add(commands, "audit", _audit, "audit the privacy of a policy or mechanism", AUDIT)
    audit.add_argument("subject", metavar="SUBJECT", nargs="?", help="policy or mechanism (default: list them)")
    more = "folder with policies of your own; repeat the option for more (default: none)"
    audit.add_argument("--extension", metavar="FOLDER", action="append", help=more)
    audit.add_argument(
        "--trials",
        metavar="N",
        type=_number("--trials", least=1),
        help="trials per neighbour (default: the study's, or what a minute allows)",
    )
    audit.add_argument("--thorough", action="store_true", help="search for ten minutes")
    audit.add_argument("--save", metavar="FILE", help="JSON file for the worst inputs and event (default: none)")
    audit.add_argument("--replay", metavar="FILE", help="count the inputs and event of such a file once more")
    audit.add_argument("--csv", metavar="FILE", help="CSV file for all columns of audit.csv (default: none)")

    correct = _add(commands, "correct", _correct, "correct the p-values of an adaptive experiment's history", CORRECT)
    correct.add_argument("history", metavar="HISTORY", help="CSV file with columns arm and reward, or -")
    correct.add_argument(
        "--epsilon",
        type=_number("--epsilon", above=0),
        required=True,
        help="privacy budget of the whole experiment, > 0",
    )
    correct.add_argument(
        "--null",
        type=_number("--null", above=0, below=1),
        default=0.5,
        help="largest mean under the null, in (0, 1) (default: 0.5)",
    )
    correct.add_argument(
        "--level", type=_number("--level", above=0, below=1), default=0.05, help="test level, in (0, 1) (default: 0.05)"
    )
    correct.add_argument(
        "--beta",
        type=_number("--beta", above=0, below=1),
        help="beta in (0, 1), fixed in advance (default: best for --level)",
    )
    correct.add_argument(
        "--arms", metavar="K", type=_number("--arms", least=1), help="number of arms (default: highest in the file + 1)"
    )
    correct.add_argument("--arm", metavar="ARM", help="arm to test: number, most-pulled or least-pulled (default: all)")
    correct.add_argument("--csv", metavar="FILE", help="CSV file for the table (default: none)")

    check = _add(commands, "check", _check, "run an extension briefly to find faults", CHECK)
    check.add_argument("folder", metavar="FOLDER", type=Path, help="folder of the extension")

    compare = _add(commands, "compare", _compare, "rank your own bandits among published ones", COMPARE)
    compare.add_argument("folder", metavar="FOLDER", type=Path, help="folder of the extension")
    compare.add_argument(
        "--epsilon",
        metavar="LIST",
        type=_numbers("--epsilon", above=0),
        default=[1.0],
        help="privacy budgets, > 0 (default: 1)",
    )
    compare.add_argument(
        "--horizon",
        metavar="LIST",
        type=_numbers("--horizon", least=2),
        default=[100_000],
        help="numbers of rounds (default: 100000)",
    )
    compare.add_argument("--K", metavar="K", type=_number("--K", least=2), help="number of arms (default: 5)")
    compare.add_argument(
        "--means", metavar="LIST", type=_numbers("--means"), help="means of Bernoulli arms (default: mu1 to mu5)"
    )
    compare.add_argument(
        "--environment", metavar="NAME", help="environment of the library or of FOLDER (default: bernoulli)"
    )
    compare.add_argument(
        "--set",
        metavar="NAME=VALUE",
        type=_assignment,
        action="append",
        default=[],
        help="parameter of --environment; repeat the option for more (default: its own)",
    )
    compare.add_argument(
        "--replicates",
        metavar="N",
        type=_number("--replicates", least=2),
        default=100,
        help="number of runs (default: 100)",
    )
    compare.add_argument(
        "--trials",
        metavar="N",
        type=_number("--trials", least=1),
        default=20_000,
        help="trials per audit (default: 20000)",
    )
    compare.add_argument(
        "--output", type=Path, default=Path("leaderboard"), help="path, no suffix (default: leaderboard)"
    )

    data = _add(commands, "data", _data, "fetch and verify the raw files of the datasets", DATA)
    data.add_argument("--mirror", metavar="FOLDER", help="folder with raw files (default: PRIVARMS_MIRROR, or none)")

    new = commands.add_parser("new", help="create a policy of your own").add_subparsers(required=True, metavar="WHAT")
    policy = _add(new, "policy", _new_policy, "write a working bandit as a starting point", NEW)
    policy.add_argument("name", metavar="NAME", help="name (small letters, digits, _)")
    policy.add_argument("--folder", type=Path, default=Path("my_bandits"), help="extension (default: my_bandits)")

    crate = _add(commands, "crate", _crate, "pack a finished run as a Workflow Run RO-Crate", CRATE)
    crate.add_argument(
        "--scale", choices=("tiny", "quick", "paper"), default="paper", help="results to pack (default: paper)"
    )
    crate.add_argument(
        "--configfile", metavar="FILE", nargs="*", default=[], help="configuration files (default: none)"
    )
    crate.add_argument("--output", metavar="FILE", help="zip file (default: results/{scale}_crate.zip)")
    return top


class _Version(argparse.Action):
    """Print the version and, in a clone, the revision."""

    def __init__(self, option_strings, dest):
        super().__init__(option_strings, dest, nargs=0, help="print the version and the git revision, and exit")

    def __call__(self, parser, namespace, values, option_string=None):
        from privarms.files.revision import UNKNOWN, revision

        found = revision()
        print(f"privarms {__version__}{'' if found == UNKNOWN else f', revision {found}'}")
        parser.exit()


def _add(commands, name: str, run: Callable, help: str, description: str) -> argparse.ArgumentParser:
    part = commands.add_parser(
        name, help=help, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    part.set_defaults(run=run)
    return part


def _number(option: str, *, least: int | None = None, above: float = -math.inf, below: float = math.inf) -> Callable:
    """Return the parser of an option's number, which is spelled as in our YAML files: 1e5 is a whole number.

    least : smallest value of an option that is a whole number
    above, below : bounds, exclusive, of any other option
    """

    def parse(text: str) -> int | float:
        from privarms.files import settings

        value = settings.scalar(text)
        if least is not None:
            if type(value) is not int or not least <= value <= MOST:
                raise PrivarmsError(f"{option}: expected a whole number from {least} to {MOST:.0e}; found {text!r}")
            return value
        if type(value) not in (int, float) or not above < value < below:
            bounds = f" above {above}" if above > -math.inf else ""
            bounds = f" between {above} and {below}" if below < math.inf else bounds
            raise PrivarmsError(f"{option}: expected a finite number{bounds}; found {text!r}")
        return float(value)

    return parse


def _numbers(option: str, **bounds) -> Callable:
    """Return the parser of an option's numbers, separated by commas; bounds: those of `_number`."""
    return lambda text: [*map(_number(option, **bounds), text.split(","))]


def _assignment(text: str) -> tuple[str, object]:
    """Return name and value of NAME=VALUE, the value as in our YAML files."""
    from privarms.files import settings

    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise PrivarmsError(f"--set: expected NAME=VALUE; found {text!r}")
    return name, settings.scalar(value)


def _audit(options) -> int:
    from privarms.cli import audit_now

    chosen = {name: getattr(options, name) for name in ("extension", "trials", "csv", "thorough", "save", "replay")}
    return audit_now.show(options.subject, **chosen)


def _correct(options) -> int:
    from privarms.files.whole import write_text
    from privarms.inference import correction

    places = [options.history, options.csv or ""]
    if all(map(os.path.exists, places)) and os.path.samefile(*places):
        raise PrivarmsError(f"--csv: {options.csv} is the history; name another file")
    chosen = {name: getattr(options, name) for name in ("epsilon", "null", "level", "beta", "arm")}
    table = correction.correct(options.history, K=options.arms, **chosen)
    print(correction.described(table))
    if options.csv is not None:
        write_text(options.csv, table.to_csv(index=False, lineterminator="\n"))
    return 0


def _check(options) -> int:
    from privarms.cli import check

    return check.run_check(options.folder)


def _compare(options) -> int:
    from privarms.cli import leaderboard

    given = {name: getattr(options, name) for name in ("epsilon", "horizon", "replicates", "trials", "means")}
    given |= {"arms": options.K, "environment": options.environment, "parameters": dict(options.set)}
    return leaderboard.show(options.folder, options.output, **given)


def _data(options) -> int:
    from privarms.cli import raw_data

    return raw_data.show(options.mirror)


def _new_policy(options) -> int:
    from privarms.cli import new

    print(new.write_policy(options.name, options.folder))
    return 0


def _crate(options) -> int:
    from privarms.cli import crate

    print(crate.pack(options.scale, options.output or f"results/{options.scale}_crate.zip", options.configfile))
    return 0
