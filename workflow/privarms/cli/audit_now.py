"""Audits of one policy or mechanism, run at once: the command `privarms audit`."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from privarms.audits import counterexample, search, verdicts
from privarms.audits.reduction import configured
from privarms.errors import PrivarmsError
from privarms.execution import run
from privarms.execution.cell import Cell, Piece
from privarms.files import settings
from privarms.files.whole import write_text
from privarms.planning import auditing, configuration, paths
from privarms.planning.cells import expand
from privarms.registry import extensions, library, privacy
from privarms.registry.modules import EnvironmentModule, PolicyModule

SEED = 20190609
# Of the audit that fits any policy of its family: the trials per neighbour and size, and the seconds that it may take
# here. A slow policy gets fewer trials, at least FEWEST.
LIMITS = TRIALS, SECONDS = 20_000, 60.0
FEWEST = 500
# The same limits of a thorough audit.
THOROUGH = 200_000, 600.0
# The trials with which the time of a trial and of its share of the search is measured.
PROBE = 500


def run_audits(subject: str, trials: int | None = None, thorough: bool = False) -> pd.DataFrame:
    """Return the rows of audit.csv (`verdicts.COLUMNS`) about one policy or mechanism.

    trials: per neighbour, instead of each study's own number or of the number that SECONDS allow
    thorough: whether the audit that fits any policy of the family runs, for ten times as long, instead of others
    Raises PrivarmsError for an unknown name, and if no audit fits.
    """
    return results(planned(subject, trials, thorough))


def planned(subject: str, trials: int | None = None, thorough: bool = False) -> list[Cell]:
    """Return the cells that `run_audits` runs."""
    chosen = fitting_cells(subject) if thorough else cells(subject)
    if trials is None and _searches(chosen[0]):
        return affordable(chosen, *(THOROUGH if thorough else LIMITS))
    return chosen if trials is None else [_with_trials(cell, trials) for cell in chosen]


def affordable(chosen: list[Cell], most: int = TRIALS, seconds: float = SECONDS) -> list[Cell]:
    """Return cells of the audit of a family with as many trials, at most `most`, as take about `seconds` here."""
    if most <= PROBE:
        return [_with_trials(cell, most) for cell in chosen]
    rounds = [cell.horizon or 1 for cell in chosen]
    # A round may take longer in longer runs. The first run compiles, and shows whether the policy can be run.
    sizes = sorted(range(len(chosen)), key=lambda i: -rounds[i])
    can_run = (i for i in sizes if _counts(_with_trials(chosen[i], PROBE))["trials"].any())
    longest = next(can_run, None)
    if longest is None:
        return [_with_trials(cell, FEWEST) for cell in chosen]
    begin = time.process_time()
    _counts(_with_trials(chosen[longest], PROBE + 1))
    of_one = rounds[longest] + search.rounds_per_trial(rounds[longest])
    # Two cells, with one input each, share a search.
    of_all = sum(one + search.rounds_per_trial(one) / 2 for one in rounds)
    seconds_per_trial = (time.process_time() - begin) / PROBE * of_all / of_one
    return [_with_trials(cell, max(FEWEST, min(most, int(seconds / seconds_per_trial)))) for cell in chosen]


def results(chosen: Iterable[Cell]) -> pd.DataFrame:
    """Run cells of audits; return the rows of audit.csv."""
    studies: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for cell in chosen:
        rows = _counts(cell)
        if _searches(cell) and rows["trials"].any():
            rows = rows.assign(found=_selected(cell))
        studies.setdefault((cell.paper, cell.study), []).append(rows)
    parts = [rows for some in studies.values() for rows in some]
    if not any(rows["trials"].any() for rows in parts):
        names = ", ".join(dict.fromkeys(str(rows["policy"].iloc[0]) for rows in parts))
        raise PrivarmsError(f"{names}: not audited, because it could not be run; see the warnings above")
    return verdicts.table([(*name, pd.concat(parts, ignore_index=True)) for name, parts in studies.items()])


def _counts(cell: Cell) -> pd.DataFrame:
    rows = run.run_piece(Piece(cell, 0, cell.blocks), SEED, {}).to_pandas()
    return rows.assign(**_columns(cell))


def _columns(cell: Cell) -> dict:
    further = {k: v for k, v in (("horizon", cell.horizon), ("variant", cell.variant)) if v}
    return {"policy": cell.policy, "environment": cell.environment, **cell.parameters, **further}


def _searches(cell: Cell) -> bool:
    """Return whether the cell's audit selects its inputs and its event."""
    return bool(EnvironmentModule(cell.environment).audited_families)


def _found(cell: Cell) -> search.Found:
    """Return what the search of a cell selected; a search that ran in this process is not repeated."""
    module = EnvironmentModule(cell.environment).module
    params, (inputs, _) = configured(cell.policy, module.AUDIT, pd.DataFrame([_columns(cell)]))
    return module.find(PolicyModule(cell.policy).module, params, inputs, cell.horizon, cell.block)


def _selected(cell: Cell) -> str:
    found = _found(cell)
    inputs = EnvironmentModule(cell.environment).module.in_words(found.inputs)
    tried = f"{found.tried:,} of {found.pairs:,}" if found.tried < found.pairs else f"All {found.pairs:,}"
    return (
        f"{tried} pairs of inputs were tried. The runs differed most when {inputs}, in the event that "
        f"{search.described(found.event)}."
    )


def _with_trials(cell: Cell, trials: int) -> Cell:
    return replace(cell, replicates=trials, block=min(trials, cell.block) if not _searches(cell) else trials)


def cells(subject: str) -> list[Cell]:
    """Return the cells that audit a subject: those of studies or, without any, of the audit that fits its family."""
    known = [*library.names("mechanisms"), *library.names("policies")]
    if subject not in known:
        raise PrivarmsError(f"{subject}: no policy or mechanism; expected one of {', '.join(sorted(known))}")
    return [cell for cell in _of_studies() if cell.policy == subject] or fitting_cells(subject)


def fitting_cells(subject: str, trials: int = TRIALS, epsilon: float = auditing.PROMISED) -> list[Cell]:
    """Return the cells of the audit that fits any policy of a family, for a claimed epsilon.

    Raises PrivarmsError for a subject that claims no privacy or joint privacy, and for a family without such an audit.
    """
    policy = PolicyModule(subject)
    if not policy.claims_epsilon:
        has = "epsilon" in policy.arguments
        why = "its module declares PRIVATE = False" if has else "it has no parameter epsilon"
        raise PrivarmsError(f"{subject}: {why}, so it claims no privacy that an audit could refute")
    if privacy.privacy(subject) == privacy.JOINT:
        raise PrivarmsError(f"{subject}: not audited: it declares PRIVACY = 'joint', and no audit here is about this")
    audit = auditing.fitting(subject)
    if audit is None:
        own = ", ".join(policy.audits)
        advice = f"In the project's folder, the command `privarms audit {subject}` runs its own audits: {own}"
        write = "Write an audit and a study (docs/extend-by-kind.md, An audit)"
        raise PrivarmsError(
            f"{subject}: no audit fits every subject of the family {policy.family}. {advice if own else write}"
        )
    takes = {k: a for k, a in policy.arguments.items() if k not in auditing.OTHERS and a.required}
    if unknown := [k for k, argument in takes.items() if not argument.choices]:
        raise PrivarmsError(f"{policy.shown}: the audit has no value for the parameter {unknown[0]}; give it a default")
    own = {k: a.choices[0] for k, a in takes.items()}
    study = auditing.study_of(audit, subject, [own], trials, epsilon)
    return expand(policy.shown, "audit", f"audit_{subject}", study)


def own_cells(subject: str, trials: int = TRIALS, epsilon: float = auditing.PROMISED) -> list[Cell]:
    """Return the cells of a policy's own audits in the settings that these declare, for a claimed epsilon.

    They need no study. Without such an audit, the cells are those of `fitting_cells`.
    """
    studies = auditing.own_studies(subject, trials, epsilon).items()
    cells = [cell for name, study in studies for cell in expand(PolicyModule(subject).shown, "audit", name, study)]
    return cells or fitting_cells(subject, trials, epsilon)


def _of_studies() -> Iterator[Cell]:
    """Yield the cells of all audits of extensions and, if its files are here, of the project, at scale quick."""
    file = Path(paths.located("config/config.yaml"))
    own, *others = paths.folders(settings.read(file)["papers"] if file.is_file() else "config/papers")
    for folder in (own, *others):
        for file in sorted(Path(folder).glob("*/studies.yaml")):
            paper = configuration.load_paper(file, "quick", extension=folder in others)
            for name, study in paper.studies.items():
                if study.protocol == "audit":
                    yield from expand(str(file), paper.name, name, study)


def listed() -> pd.DataFrame:
    """Return a table of the subjects that claim an epsilon: subject, family, and the audits of each."""
    rows = []
    private = [policy for policy in library.names("policies") if PolicyModule(policy).claims_epsilon]
    for subject in map(PolicyModule, [*library.names("mechanisms"), *private]):
        audits = ", ".join(subject.audits) or auditing.fitting(subject.name) or "none"
        rows.append((subject.name, subject.family, audits))
    return pd.DataFrame(rows, columns=["subject", "family", "audits"]).sort_values("subject")


def show(
    subject: str | None,
    extension: Sequence[str] | None = None,
    trials: int | None = None,
    csv: str | None = None,
    thorough: bool = False,
    save: str | None = None,
    replay: str | None = None,
) -> int:
    """Print the audits of a subject, or the list of subjects; return 1 if any subject is not private as claimed.

    save: a file for the pair of inputs and the event with the largest bound; replay: such a file, which is counted
    once more
    """
    if extension is not None:
        extensions.extend(extension)
    if replay is not None:
        if subject is not None or save is not None or csv is not None or thorough:
            raise PrivarmsError("--replay: expected no other argument than --trials and --extension; remove the others")
        return _replayed(replay, trials or TRIALS)
    if subject is None:
        if save is not None or csv is not None or thorough:
            raise PrivarmsError("SUBJECT: expected a policy or mechanism for --save, --csv and --thorough; found none")
        print(listed().to_string(index=False))
        return 0
    for option, file in (("--save", save), ("--csv", csv)):
        if file is not None and Path(file).is_dir():
            raise PrivarmsError(f"{option}: expected a file; found the folder {file}")
    chosen = planned(subject, trials, thorough)
    if save is not None and not _searches(chosen[0]):
        raise PrivarmsError(f"--save: {subject} has audits with fixed inputs; add --thorough to search for inputs")
    table = results(chosen)
    if csv is not None:
        write_text(csv, table.to_csv(index=False, lineterminator="\n"))
    if _searches(chosen[0]):
        most, _ = THOROUGH if thorough else LIMITS
        _print_searched(subject, table, most if trials is None else 0)
    else:
        _print_all(subject, table)
    if save is not None:
        _save(save, subject, table, chosen)
    return int((table["verdict"] == verdicts.NOT_PRIVATE).any())


def _print_all(subject: str, table: pd.DataFrame) -> None:
    for row in table.to_dict("records"):
        setting = ", ".join(part for part in (row["variant"], row["setting"]) if part)
        print(f"{row['verdict']}: {subject}, {row['audit']}{f' ({setting})' if setting else ''}")
        if pd.notna(row["claimed_epsilon"]):
            print(f"  {_numbers(row)}")
        print(f"  {row['note']}", flush=True)


def _print_searched(subject: str, table: pd.DataFrame, most: int) -> None:
    """Print the verdict of all sizes together, one line per size, and the note of the size with the largest bound.

    most: the number of trials if time allows
    """
    line = verdicts.summary(table).iloc[0]
    caught = int((table["broken_twin_lower_bound"] > table["claimed_epsilon"]).sum())
    print(f"{line['verdict']}: {subject}, {line['audit']}; weakened control caught in {caught} of {len(table)} sizes")
    if table["trials"].max() < most:
        print(f"  (with fewer than {most:,} trials, for the time that they take; --trials and --thorough run more)")
    for row in table.to_dict("records"):
        numbers = _numbers(row) if pd.notna(row["claimed_epsilon"]) else row["note"]
        print(f"  {row['setting']}: {row['verdict']}; {numbers}")
    print(f"With {line['setting']}: {line['note']}", flush=True)


def _numbers(row: dict) -> str:
    exact = f", exactly {row['exact']:.4g}" if pd.notna(row["exact"]) else ""
    shown = f"shown at least {max(row['lower_bound'], 0):.4g}{exact}" if pd.notna(row["lower_bound"]) else "not run"
    weakened = row["broken_twin_lower_bound"]
    control = f"; of the weakened control at least {max(weakened, 0):.4g}" if pd.notna(weakened) else ""
    return f"claimed {row['claimed_epsilon']:g}; {shown}{control}; {row['trials']:,} trials"


def _save(file: str, subject: str, table: pd.DataFrame, chosen: list[Cell]) -> None:
    line = verdicts.summary(table).iloc[0]
    for cell in chosen:
        claimed = cell.parameters["promised"]
        size = f"K = {cell.parameters['K']}, rounds = {cell.parameters['rounds']}"
        selected = size in line["setting"] and _selected(cell) in line["note"]
        if selected and claimed == line["epsilon"] == cell.parameters["epsilon"]:
            promised = claimed, cell.parameters.get("promised_delta", 0.0)
            counterexample.write(file, cell.environment, subject, cell.policy_parameters, promised, _found(cell))
            print(f"inputs and event: {file}; count them again with `privarms audit --replay {file}`")
            return
    raise PrivarmsError(f"--save: {subject} could not be run, so there is nothing to save")


def _replayed(file: str, trials: int) -> int:
    row = counterexample.count(file, trials, SEED + 1)
    above = row["lower_bound"] > row["claimed_epsilon"]
    delta = f" and delta {row['delta']:g}" if row["delta"] else ""
    print(
        f"{verdicts.NOT_PRIVATE if above else 'no violation in these runs'}: {row['policy']}\n"
        f"  claimed {row['claimed_epsilon']:g}{delta}; shown at least {max(row['lower_bound'], 0):.4g}; the event "
        f"happened in {row['events']:,} and {row['likelier_events']:,} of {trials:,} trials with the two inputs"
    )
    return int(above)
