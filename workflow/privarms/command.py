"""The command `privarms`: what is of use beside Snakemake. Each part imports what it needs, so that --help is quick."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from privarms.errors import PrivarmsError


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status: 0, 1 where something failed or changed, 2 for bad input."""
    given = parser().parse_args(arguments)
    try:
        return given.does(given)
    except PrivarmsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever reads has read enough, `privarms ... | head`.
        sys.stderr.close()
        return 0


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    found = argparse.ArgumentParser(
        prog="privarms",
        description="Private bandits: audit one, correct a history for adaptivity, check an extension, compare "
        "ledgers. The papers are made by Snakemake: README.md.",
    )
    parts = found.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_audit, _add_correct, _add_check, _add_ledger, _add_crate):
        add(parts)
    return found


def _add(parts, name: str, does, help: str, description: str = "") -> argparse.ArgumentParser:
    made = parts.add_parser(
        name,
        help=help,
        description=description or help[:1].upper() + help[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.set_defaults(does=does)
    return made


def _add_check(parts) -> None:
    description = """\
Plan the studies of an extension and run each of their policies for up to 100 rounds, with array bounds
checked. Exit status 1 if anything failed (docs/extend.md)."""
    made = _add(parts, "check", _check, "try an extension at a tiny size", description)
    made.add_argument("folder", metavar="FOLDER", help="the extension")


def _check(given) -> int:
    from privarms import check

    return check.run_check(Path(given.folder))


def _add_audit(parts) -> None:
    description = """\
Without SUBJECT: what can be audited, and by which audits. With the name of a policy or mechanism: run its
audits now, and say of each setting what privacy loss it claims, what the trials show, and what the same
audit shows of broken twins, which have less noise. In the project's folder these are the settings of
config/papers at scale quick; elsewhere, and for policies that no study audits, the audit that fits any
policy of its family. Exit status 1 if one is not private as claimed.

  privarms audit dp_se
  privarms audit private_halving --extension examples/my_bandits"""
    made = _add(parts, "audit", _audit, "audit the privacy of a policy or mechanism", description)
    made.add_argument("subject", metavar="SUBJECT", nargs="?", help="a policy or mechanism; none: list them")
    made.add_argument("--extension", metavar="FOLDER", help="a folder of policies of your own (docs/extend.md)")
    made.add_argument("--trials", metavar="N", type=int, help="trials with each neighbour, instead of the study's own")
    made.add_argument("--csv", metavar="FILE", help="write all columns of audit.csv there (docs/output.md)")


def _audit(given) -> int:
    from privarms.audits import now

    if given.trials is not None and given.trials < 1:
        raise PrivarmsError(f"--trials: expected a number >= 1; found {given.trials}")
    return now.show(given.subject, extension=given.extension, trials=given.trials, csv=given.csv)


def _add_correct(parts) -> None:
    description = """\
HISTORY is a CSV file with the columns arm (0, 1, ...) and reward (in [0, 1]), a line a round in order, of
an experiment whose next arm was chosen by an epsilon-reward-private bandit (delta = 0). For each arm: its
pulls and mean, the one-sided binomial p-value of the null that its mean is at most --null, as if the arms
had been chosen before, and the p-value that holds in spite of the adaptive choice, by max-information
(Neel and Roth 2018, section 4: Theorems 3 and 4).

The corrected p-values hold for one arm, chosen in any way; read several of them and divide --level.

  privarms correct history.csv --epsilon 0.1 --level 0.05"""
    made = _add(parts, "correct", _correct, "correct the p-values of an adaptive experiment's history", description)
    made.add_argument("history", metavar="HISTORY", help="the CSV file")
    made.add_argument("--epsilon", type=float, required=True, help="the budget of the whole experiment, > 0")
    made.add_argument("--null", type=float, default=0.5, help="the mean that is tested against, in (0, 1); 0.5")
    made.add_argument("--level", type=float, default=0.05, help="the level that matters, in (0, 1); 0.05")
    made.add_argument("--beta", type=float, help="fixed before the data are seen; else the best one for --level")
    made.add_argument(
        "--arms", metavar="K", type=int, help="how many arms there were; else the highest in the file + 1"
    )
    made.add_argument("--csv", metavar="FILE", help="write the table there as CSV too")


def _correct(given) -> int:
    from privarms.inference import correction

    found = correction.correct(
        given.history, epsilon=given.epsilon, null=given.null, level=given.level, beta=given.beta, K=given.arms
    )
    print(correction.described(found))
    if given.csv:
        correction.write(found, given.csv)
    return 0


def _add_ledger(parts) -> None:
    made = parts.add_parser("ledger", help="what is in ledgers").add_subparsers(required=True, metavar="COMMAND")
    description = """\
Which claims are judged otherwise in NEW than in OLD, and which are new or gone; both are ledger.csv as a run
writes it. The ledger that the last run replaced is logs/{scale}/previous_ledger.csv. Exit status 1 if a
verdict changed, is new or gone.

  privarms ledger diff logs/quick/previous_ledger.csv results/quick/ledger.csv"""
    diff = _add(made, "diff", _ledger_diff, "compare two ledgers", description)
    diff.add_argument("old", metavar="OLD", help="the earlier ledger.csv")
    diff.add_argument("new", metavar="NEW", help="the later one")


def _ledger_diff(given) -> int:
    from privarms.claims import changes, ledger

    found = changes.compare(ledger.read(_there(given.old)), ledger.read(_there(given.new)))
    for line in changes.lines(found):
        print(line)
    print(changes.sentence(found))
    return 1 if found.verdicts else 0


def _add_crate(parts) -> None:
    description = """\
Pack a finished run in this folder as a Workflow Run RO-Crate, one zip file: results, ledger, workflow, library,
configuration, locked versions, and the log, time and memory of each job. Its README.md explains it.
`make crate` packs scale quick."""
    made = _add(parts, "crate", _crate, "pack a finished run as a Workflow Run RO-Crate", description)
    made.add_argument("--scale", choices=("quick", "paper"), default="paper", help="results to pack (default: paper)")
    made.add_argument("--output", metavar="FILE", help="zip file (default: results/{scale}_crate.zip)")


def _crate(given) -> int:
    from privarms import crate

    print(crate.pack(given.scale, given.output or f"results/{given.scale}_crate.zip"))
    return 0


def _there(path: str) -> Path:
    if not Path(path).is_file():
        raise PrivarmsError(f"{path}: no such file; expected a ledger.csv")
    return Path(path)


if __name__ == "__main__":
    sys.exit(main())
