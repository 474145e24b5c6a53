"""Studies of audits that no paper configures: of the audit that fits any policy of a family, and of a policy's own."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from privarms.planning.studies import AUDIT, Paper, Study
from privarms.registry import library

# The claimed budget, epsilon.
PROMISED = 1.0
ROUNDS = (64, 1024)
# Dimensions of contexts, in families with contexts.
DIMENSIONS = 2
# Settings of a policy's own parameters that studies use and that are audited; more would add little.
MOST_SETTINGS = 4
# Parameters that the study of the audit sets itself.
OTHERS = ("K", "dimensions", "horizon", "epsilon", "policy", "grid", "replicates", "block", "checkpoints", "record")


def completed(papers: Mapping[str, Paper], trials: int) -> dict[str, Paper]:
    """Add a study `audit_POLICY`, to the last paper that runs it, for each policy with an epsilon and without audit."""
    papers = dict(papers)
    entries = [
        (name, study, entry)
        for name, paper in papers.items()
        for study in paper.studies.values()
        for entry in study.policies
        if entry.policy in library.names("policies")
    ]
    audited = {entry.policy for _, study, entry in entries if study.protocol == AUDIT}
    run: dict[str, tuple[str, list[dict]]] = {}
    for name, study, entry in entries:
        policy, grid = entry.policy, study.grid_of(entry)
        if policy not in audited and not library.has_audit(policy) and library.claims_epsilon(policy):
            values = {**(grid[0].parameters if grid else {}), **entry.parameters}
            setting = {k: values[k] for k in library.arguments("policies", policy) if k in values and k not in OTHERS}
            _, settings = run.get(policy, (name, []))
            run[policy] = name, settings if setting in settings else [*settings, setting][:MOST_SETTINGS]
    for policy, (name, settings) in run.items():
        audit, studies = fitting(library.family(policy)), papers[name].studies
        if audit is not None and f"audit_{policy}" not in studies:
            studies = {**studies, f"audit_{policy}": study_of(audit, policy, settings, trials)}
            papers[name] = replace(papers[name], studies=studies)
    return papers


def fitting(family: str) -> str | None:
    """Return the audit that fits any policy of a family; None if there is no such audit."""
    return next((a for a in library.audits() if family in library.audited_families(a)), None)


def own_studies(policy: str, trials: int, epsilon: float) -> dict[str, Study]:
    """Return a study of each audit that names a policy and declares a setting, by its name; none for most policies.

    Every study has the full noise and, as a weakened control, half of it.
    """
    studies = {}
    for audit in (name for name, subjects in library.audits().items() if policy in subjects):
        setting = dict(library.attributes("environments", audit)["AUDIT"].setting)
        if setting:
            count = trials * setting.pop("times", 1)
            takes = {*library.arguments("policies", policy), *library.environment_arguments(audit), "horizon"}
            grid = {"neighbour": [0, 1], "epsilon": epsilon, "noise": [1.0, 0.5]}
            content = {
                "audit": audit,
                "replicates": count,
                "block": count,
                "grid": grid | {name: value for name, value in setting.items() if name in takes},
                "policies": [{"policy": policy}],
            }
            studies[f"{audit}_{policy}"] = Study.model_validate(content)
    return studies


def study_of(audit: str, policy: str, settings: Iterable[Mapping], trials: int, promised: float = PROMISED) -> Study:
    """Return a study of this audit; settings: of the policy's own parameters, one entry each.

    The policy runs with the promised budget and, as a weakened control with half the noise, with twice this budget.
    """
    grid = {"neighbour": [0, 1], "K": 2, "rounds": list(ROUNDS)}
    grid |= {"promised": promised, "epsilon": [promised, 2 * promised]}
    if "dimensions" in library.arguments("policies", policy):
        grid["dimensions"] = DIMENSIONS
    content = {
        "audit": audit,
        "horizon": ROUNDS[-1],
        "replicates": trials,
        "block": trials,
        "grid": grid,
        "policies": [{"policy": policy, **setting} for setting in settings],
    }
    return Study.model_validate(content)
