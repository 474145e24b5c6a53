"""Audits of one policy or mechanism, run at once: the command `privarms audit`."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from privarms.audits import verdicts
from privarms.errors import PrivarmsError
from privarms.execution import run
from privarms.execution.cell import Cell, Piece
from privarms.files import settings
from privarms.files.whole import write_text
from privarms.planning import auditing, configuration, paths
from privarms.planning.cells import expand
from privarms.registry import extensions, library

SEED = 20190609
# Trials of the audit that fits any policy of its family.
TRIALS = 20_000


def run_audits(subject: str, trials: int | None = None) -> pd.DataFrame:
    """Return the rows of audit.csv (`verdicts.COLUMNS`) about one policy or mechanism.

    trials: per neighbour, instead of each study's own number
    Raises PrivarmsError for an unknown name, and if no audit fits.
    """
    chosen = cells(subject)
    if trials is not None:
        chosen = [replace(cell, replicates=trials, block=min(trials, cell.block)) for cell in chosen]
    return results(chosen)


def results(chosen: Iterable[Cell]) -> pd.DataFrame:
    """Run cells of audits; return the rows of audit.csv."""
    studies: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for cell in chosen:
        rows = run.run_piece(Piece(cell, 0, cell.blocks), SEED, {}).to_pandas()
        further = {k: v for k, v in (("horizon", cell.horizon), ("variant", cell.variant)) if v}
        rows = rows.assign(policy=cell.policy, environment=cell.environment, **cell.parameters, **further)
        studies.setdefault((cell.paper, cell.study), []).append(rows)
    return verdicts.table([(*name, pd.concat(parts, ignore_index=True)) for name, parts in studies.items()])


def cells(subject: str) -> list[Cell]:
    """Return the cells that audit a subject: those of studies or, without any, of the audit that fits its family."""
    known = [*library.names("mechanisms"), *library.names("policies")]
    if subject not in known:
        raise PrivarmsError(f"{subject}: no policy or mechanism; expected one of {', '.join(sorted(known))}")
    return [cell for cell in _of_studies() if cell.policy == subject] or fitting_cells(subject)


def fitting_cells(subject: str, trials: int = TRIALS, epsilon: float = auditing.PROMISED) -> list[Cell]:
    """Return the cells of the audit that fits any policy of a family, for a claimed epsilon.

    Raises PrivarmsError for a subject that claims no privacy, and for a family without such an audit.
    """
    if not library.claims_epsilon(subject):
        has = "epsilon" in library.arguments("policies", subject)
        why = "its module declares PRIVATE = False" if has else "it has no parameter epsilon"
        raise PrivarmsError(f"{subject}: {why}, so it claims no privacy that an audit could refute")
    audit, family = auditing.fitting(library.family(subject)), library.family(subject)
    if audit is None:
        own = ", ".join(name for name, subjects in library.audits().items() if subject in subjects)
        advice = f"In the project's folder, the command `privarms audit {subject}` runs its own audits: {own}"
        write = "Write an audit and a study (docs/extend-by-kind.md, An audit)"
        raise PrivarmsError(
            f"{subject}: no audit fits every subject of the family {family}. {advice if own else write}"
        )
    takes = {k: a for k, a in library.arguments("policies", subject).items() if k not in auditing.OTHERS and a.required}
    own = {k: a.choices[0] for k, a in takes.items() if a.choices}
    study = auditing.study_of(audit, subject, [own], trials, epsilon)
    return expand(library.policy_file(subject), "audit", f"audit_{subject}", study)


def own_cells(subject: str, trials: int = TRIALS, epsilon: float = auditing.PROMISED) -> list[Cell]:
    """Return the cells of a policy's own audits in the settings that these declare, for a claimed epsilon.

    They need no study. Without such an audit, the cells are those of `fitting_cells`.
    """
    studies = auditing.own_studies(subject, trials, epsilon).items()
    cells = [cell for name, study in studies for cell in expand(library.policy_file(subject), "audit", name, study)]
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
    for subject in [*library.names("mechanisms"), *filter(library.claims_epsilon, library.names("policies"))]:
        named = [name for name, subjects in library.audits().items() if subject in subjects]
        fitting = auditing.fitting(library.family(subject))
        rows.append((subject, library.family(subject), ", ".join(named) or fitting or "none"))
    return pd.DataFrame(rows, columns=["subject", "family", "audits"]).sort_values("subject")


def show(subject: str | None, extension: str | None = None, trials: int | None = None, csv: str | None = None) -> int:
    """Print the audits of a subject, or the list of subjects; return 1 if any subject is not private as claimed."""
    if extension is not None:
        extensions.extend([extension])
    if subject is None:
        print(listed().to_string(index=False))
        return 0
    table = run_audits(subject, trials)
    if csv is not None:
        write_text(csv, table.to_csv(index=False, lineterminator="\n"))
    for row in table.to_dict("records"):
        setting = ", ".join(part for part in (row["variant"], row["setting"]) if part)
        print(f"{row['verdict']}: {subject}, {row['audit']}{f' ({setting})' if setting else ''}")
        if pd.notna(row["claimed_epsilon"]):
            exact = f", exactly {row['exact']:.4g}" if pd.notna(row["exact"]) else ""
            shown = (
                f"shown at least {max(row['lower_bound'], 0):.4g}{exact}" if pd.notna(row["lower_bound"]) else "not run"
            )
            weakened = row["broken_twin_lower_bound"]
            control = f"; of the weakened control at least {max(weakened, 0):.4g}" if pd.notna(weakened) else ""
            print(f"  claimed {row['claimed_epsilon']:g}; {shown}{control}; {row['trials']:,} trials")
        print(f"  {row['note']}", flush=True)
    return int((table["verdict"] == verdicts.NOT_PRIVATE).any())
