"""Audits of one policy or mechanism, run at once: what `privarms audit` says."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from privarms.audits import verdicts
from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.files.whole import write_text
from privarms.studies import auditing, configuration, library, paths, run
from privarms.studies.cells import Cell, expand
from privarms.studies.shards import Piece

SEED = 20190609
# Of the audit that fits any policy of its family.
TRIALS = 20_000


def run_audits(subject: str, trials: int | None = None) -> pd.DataFrame:
    """The rows of audit.csv (`verdicts.COLUMNS`) about one policy or mechanism of the library or of its extensions.

    trials: with each neighbour, instead of each study's own. Raises PrivarmsError for a name that is none, and where
    no audit fits.
    """
    known = [*library.mechanisms(), *library.names("policies")]
    if subject not in known:
        raise PrivarmsError(f"{subject}: no policy or mechanism; expected one of {', '.join(sorted(known))}")
    studies: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for cell in cells(subject):
        if trials is not None:
            cell = replace(cell, replicates=trials, block=min(trials, cell.block))
        rows = run.run_piece(Piece(cell, 0, cell.blocks), SEED, {}).to_pandas()
        about = {"policy": cell.policy, "environment": cell.environment, **cell.parameters}
        rows = rows.assign(**about, **({} if cell.horizon is None else {"horizon": cell.horizon}))
        studies.setdefault((cell.paper, cell.study), []).append(rows)
    counted = [(*name, pd.concat(parts, ignore_index=True)) for name, parts in studies.items()]
    return verdicts.table(counted)


def cells(subject: str) -> list[Cell]:
    """The cells that audit it: those of the studies at scale quick, or else of the audit that fits its family."""
    found = [cell for cell in _of_studies() if cell.policy == subject and cell.protocol == "audit"]
    if found:
        return found
    family = library.family(subject) if subject in library.names("policies") else None
    audit = auditing.fitting(family) if family else None
    if audit is None or not library.claims_epsilon(subject):
        raise PrivarmsError(
            f"{subject}: no study at hand audits it, and no audit fits any {family or 'mechanism'}; run this in the "
            "project's folder, or write an audit and a study (docs/extend.md, An audit)"
        )
    study = auditing.study(audit, subject, [_required(subject)], TRIALS)
    return expand(library.policy_file(subject), "audit", f"audit_{subject}", study)


def _of_studies() -> Iterable[Cell]:
    """Every cell of the studies of the project, if it is at hand, and of extensions, at scale quick."""
    there = Path(paths.found("config/config.yaml"))
    config = settings.read(there) if there.is_file() else {"studies": "config/studies"}
    for folder in paths.folders(config, "studies"):
        for file in sorted(Path(folder).glob("*.yaml")):
            own = Path(folder).resolve() == Path(paths.found(config["studies"])).resolve()
            content = configuration.load_paper(file, "quick", extension=not own)
            for name, study in content["studies"].items():
                if study["protocol"] == "audit":
                    yield from expand(str(file), content["paper"], name, study)


def _required(policy: str) -> dict:
    """Values for what a policy must be told besides what an audit tells it: the first of its choices."""
    takes = library.arguments("policies", policy)
    needed = {k: a for k, a in takes.items() if a.required and k not in ("K", "horizon", "epsilon")}
    unknown = [k for k, a in needed.items() if not a.choices]
    if unknown:
        raise PrivarmsError(
            f"{library.policy_file(policy)}: {', '.join(unknown)}: no default, and no study at hand runs the policy; "
            "give the parameter a default, or name the folder of the study by --extension"
        )
    return {k: a.choices[0] for k, a in needed.items()}


def listed() -> pd.DataFrame:
    """What claims an epsilon: subject, family, and the audits that are about it."""
    audits = library.audits()
    rows = []
    for subject in [*library.mechanisms(), *filter(library.claims_epsilon, library.names("policies"))]:
        family = library.family(subject) if subject in library.names("policies") else "mechanism"
        named = [name for name, subjects in audits.items() if subject in subjects]
        fitting = auditing.fitting(family)
        rows.append((subject, family, ", ".join(named or [fitting] * bool(fitting)) or "none"))
    return pd.DataFrame(rows, columns=["subject", "family", "audits"]).sort_values("subject")


def show(subject: str | None, extension: str | None = None, trials: int | None = None, csv: str | None = None) -> int:
    """Print the audits of a subject, or what can be audited; 1 if anything is not private as claimed."""
    if extension is not None:
        library.extend([extension])
    if subject is None:
        print(listed().to_string(index=False))
        return 0
    found = run_audits(subject, trials)
    if csv is not None:
        write_text(csv, found.to_csv(index=False, lineterminator="\n"))
    for row in found.to_dict("records"):
        setting = ", ".join(part for part in (row["variant"], row["setting"]) if part)
        twin = row["broken_twin_lower_bound"]
        exact = f", exactly {row['exact']:.4g}" if pd.notna(row["exact"]) else ""
        shown = f"shown at least {max(row['lower_bound'], 0):.4g}{exact}" if pd.notna(row["lower_bound"]) else "not run"
        print(f"{row['verdict']}: {subject}, {row['audit']}{f' ({setting})' if setting else ''}")
        if pd.notna(row["claimed_epsilon"]):
            broken = f"; of the broken twin at least {max(twin, 0):.4g}" if pd.notna(twin) else ""
            print(f"  claimed {row['claimed_epsilon']:g}; {shown}{broken}; {row['trials']:,} trials")
        print(f"  {row['note']}")
        sys.stdout.flush()
    return int((found["verdict"] == verdicts.NOT_PRIVATE).any())
