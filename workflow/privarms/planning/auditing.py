"""Studies of audits that no paper configures: of the audit that fits any policy of a family, and of a policy's own."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from privarms.planning.studies import AUDIT, Paper, Study
from privarms.registry import library, modules, privacy
from privarms.registry.modules import EnvironmentModule, PolicyModule

# The claimed budget, epsilon.
PROMISED = 1.0
# The sizes that are searched: K, rounds, a multiple of the claimed epsilon. Rounds are the horizon, too.
SIZES = ((2, 64, 1.0), (2, 512, 1.0), (3, 128, 1.0), (5, 256, 1.0), (2, 64, 0.25), (2, 64, 4.0))
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
        if policy not in audited and not PolicyModule(policy).has_library_audit and PolicyModule(policy).claims_epsilon:
            values = {**(grid[0].parameters if grid else {}), **entry.parameters}
            setting = {k: values[k] for k in PolicyModule(policy).arguments if k in values and k not in OTHERS}
            _, settings = run.get(policy, (name, []))
            run[policy] = name, settings if setting in settings else [*settings, setting][:MOST_SETTINGS]
    for policy, (name, settings) in run.items():
        audit, studies = fitting(policy), papers[name].studies
        if audit is not None and f"audit_{policy}" not in studies:
            studies = {**studies, f"audit_{policy}": study_of(audit, policy, settings, trials)}
            papers[name] = replace(papers[name], studies=studies)
    return papers


def fitting(policy: str) -> str | None:
    """Return the audit that fits any policy of this one's family; None if there is none, or for joint privacy."""
    if privacy.privacy(policy) == privacy.JOINT:
        return None
    family = PolicyModule(policy).family
    return next((a for a in modules.audits() if family in EnvironmentModule(a).audited_families), None)


def own_studies(policy: str, trials: int, epsilon: float) -> dict[str, Study]:
    """Return a study of each audit that names a policy and declares a setting, by its name; none for most policies.

    Every study has the full noise and, as a weakened control, half of it.
    """
    studies = {}
    for audit in PolicyModule(policy).audits:
        setting = dict(EnvironmentModule(audit).audit.setting)
        if setting:
            count = trials * setting.pop("times", 1)
            takes = {*PolicyModule(policy).arguments, *EnvironmentModule(audit).arguments, "horizon"}
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
    Raises PrivarmsError for approximate privacy without a delta.
    """
    takes = PolicyModule(policy).arguments
    arms = takes["K"].choices if "K" in takes else ()
    # A policy of another number of arms is audited with this number only.
    other = [(K, 16 * K, 1.0) for K in arms[:1]]
    sizes = [size for size in SIZES if not arms or size[0] in arms] or other
    policies = []
    for setting in settings:
        delta = privacy.promised_delta(policy, setting)
        grid = [
            {
                **{"neighbour": [0, 1], "K": K, "rounds": rounds, "horizon": rounds},
                **{"promised": times * promised, "epsilon": [times * promised, 2 * times * promised]},
                **({"promised_delta": delta} if delta else {}),
                **({"dimensions": DIMENSIONS} if "dimensions" in takes else {}),
            }
            for K, rounds, times in sizes
        ]
        policies.append({"policy": policy, "grid": grid, **setting})
    return Study.model_validate({"audit": audit, "replicates": trials, "block": trials, "policies": policies})
