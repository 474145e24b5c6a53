"""Default figures and tables of an extension's studies, if its papers register none."""

from dataclasses import replace

from privarms.planning.studies import Checkpoints, Paper, Study
from privarms.registry import library
from privarms.registry.artifacts import Artifact
from privarms.registry.modules import ProtocolModule

MODULE = "plots.defaults"
# name -> kind, title, caption
ARTIFACTS = {
    "over_time": (
        "figure",
        "over time",
        "Means with 95% intervals; one panel per point of the grid, one curve per policy.",
    ),
    "quantiles": (
        "figure",
        "spread of the runs",
        "Medians, with bands from the 5% to the 95% quantile of the runs; one panel per point of the grid.",
    ),
    "ratios": (
        "figure",
        "relative to the first policy",
        "Means divided by that of the panel's first policy, with Fieller's 95% interval where it is finite.",
    ),
    "final": ("figure", "at the end", "Means with 95% intervals along each axis of the grid; panels fix the others."),
    "pulls": ("figure", "pulls of each arm", "Mean pulls at the horizon with 95% intervals."),
    "summary": ("table", "the numbers", "Means, standard errors, 95% intervals and quantiles at the horizon."),
}
CHECKPOINTS = Checkpoints(count=40, first=10)


def completed(paper: Paper) -> Paper:
    """Return a paper with default artifacts; studies with a curve over time get checkpoints."""
    studies, artifacts = {}, {}
    for name, study in paper.studies.items():
        needs_checkpoints = study.checkpoints is None and "over_time" in _fitting(study)
        studies[name] = study.model_copy(update={"checkpoints": CHECKPOINTS}) if needs_checkpoints else study
    for name, study in studies.items():
        for default in _fitting(study):
            kind, title, caption = ARTIFACTS[default]
            title = f"{name.replace('_', ' ')}: {title}"
            artifact = Artifact(kind, title, caption, (MODULE, default, {}), studies=[name])
            artifacts[name if default == "summary" else f"{name}_{default}"] = artifact
    return replace(paper, studies=studies, artifacts=artifacts)


def _fitting(study: Study) -> list[str]:
    """Return the default artifacts that can be made from a study."""
    if study.protocol not in library.names("protocols"):
        return ["final", "summary"]
    protocol = ProtocolModule(study.protocol)
    if protocol.record(study.record) == "arms":
        return ["pulls"]
    if "t" not in protocol.keys or protocol.record(study.record) != protocol.record(None):
        return ["final", "summary"]
    # Fieller's interval is for independent means; other families' policies meet the same users.
    entry = study.policies[0]
    several = len(study.policies) > 1 or entry.grid or any(isinstance(v, list) for v in entry.parameters.values())
    ratios = ["ratios"] if several and protocol.family == "bandit" else []
    return ["over_time", "quantiles", *ratios, "final", "summary"]
