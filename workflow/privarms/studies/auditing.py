"""Which mechanisms and policies claim an epsilon, and that each has an audit.

Those of the library name their audit's module and have a study that runs it. A policy of an extension that none
audits gets a study of its own, of the audit that fits any policy of its family.
"""

from collections.abc import Iterable, Mapping

from privarms.studies import library

# What a policy is told for a broken twin: the budget of half the noise.
PROMISED = 1.0
TOLD = (PROMISED, 2 * PROMISED)
ROUNDS = (64, 1024)
# Of parameters that studies give a policy; more would audit the same again.
MOST_SETTINGS = 4
# Which a study of any audit gives itself.
_OTHERS = ("policy", "grid", "horizon", "replicates", "block", "checkpoints", "record", "seconds_per_step")
_SIZES = ("K", "horizon", "epsilon")


def completed(papers: Mapping[str, Mapping], trials: int) -> dict[str, Mapping]:
    """The papers with an audit of every policy that claims an epsilon and that no study and no audit of the library is
    about, where there is one for its family: a study `audit_POLICY` of the last paper that runs it, which is an
    extension's where one does.

    trials: with each neighbour
    """
    found = dict(papers)
    audited = set(audited_by(papers))
    for policy, (paper, settings) in _run(papers).items():
        if not library.claims_epsilon(policy) or policy in audited or library.has_audit(policy):
            continue
        audit = fitting(library.family(policy))
        studies = found[paper]["studies"]
        name = f"audit_{policy}"
        if audit is not None and name not in studies:
            new = study(audit, policy, settings, trials)
            found[paper] = {**found[paper], "studies": {**studies, name: new}}
    return found


def audited_by(papers: Mapping[str, Mapping]) -> dict[str, list[str]]:
    """policy or mechanism -> the studies of the protocol `audit` that are about it, PAPER/STUDY."""
    found: dict[str, list[str]] = {}
    for paper, content in papers.items():
        for name, study in content["studies"].items():
            for entry in study["policies"] if study["protocol"] == "audit" else ():
                found.setdefault(entry["policy"], []).append(f"{paper}/{name}")
    return found


def fitting(family: str) -> str | None:
    """The audit that fits any policy of a family, if there is one."""
    for name in library.audits():
        if family in library.literals("environments", name).get("FAMILIES", ()):
            return name
    return None


def unaudited(papers: Mapping[str, Mapping]) -> list[str]:
    """One line for each mechanism, and each policy with an epsilon, that no study of the papers audits; what to do."""
    audited = audited_by(papers)
    claiming = [*library.mechanisms(), *(p for p in library.names("policies") if library.claims_epsilon(p))]
    found = []
    for subject in claiming:
        if subject in audited:
            continue
        audits = [name for name, subjects in library.audits().items() if subject in subjects]
        missing = (
            "no audit has it as its SUBJECT; add a module in audits/ and a study of the protocol audit that runs it"
        )
        if audits:
            missing = f"no study runs its audit {', '.join(audits)}; add one of the protocol audit to config/studies"
        parameter = "" if subject in library.mechanisms() else "its parameter 'epsilon' is a privacy budget, and "
        spared = "" if subject in library.mechanisms() else ", or set PRIVATE = False in the module if it claims none"
        found.append(f"{library.policy_file(subject)}: {parameter}{missing} (docs/extend.md, An audit){spared}")
    return found


def _run(papers: Mapping[str, Mapping]) -> dict[str, tuple[str, list[dict]]]:
    """policy -> the last paper that runs it, and the settings of its own that studies give it."""
    found: dict[str, tuple[str, list[dict]]] = {}
    for paper, content in papers.items():
        for study in content["studies"].values():
            for entry in study["policies"] if study["protocol"] != "audit" else ():
                policy = entry["policy"]
                if policy not in library.names("policies"):
                    continue
                takes = [k for k in library.arguments("policies", policy) if k not in _SIZES]
                own = {**_first(entry.get("grid", study.get("grid", {}))), **entry}
                setting = {k: own[k] for k in takes if k in own and k not in _OTHERS}
                _, settings = found.get(policy, (paper, []))
                found[policy] = (paper, settings)
                if setting not in settings and len(settings) < MOST_SETTINGS:
                    settings.append(setting)
    return found


def _first(grid: Mapping | list) -> Mapping:
    return grid[0] if isinstance(grid, list) else grid


def study(audit: str, policy: str, settings: Iterable[Mapping], trials: int) -> dict:
    """The study of an audit that fits any policy of its family.

    settings: of the policy's own parameters, one entry each; trials: with each neighbour
    """
    grid = {"neighbour": [0, 1], "K": 2, "rounds": list(ROUNDS), "promised": PROMISED, "epsilon": list(TOLD)}
    return {
        "protocol": "audit",
        "environment": {"name": audit},
        "horizon": ROUNDS[-1],
        "replicates": trials,
        "block": trials,
        "grid": grid,
        "policies": [{"policy": policy, **setting} for setting in settings],
    }
