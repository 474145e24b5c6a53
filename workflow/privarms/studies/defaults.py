"""What is made of an extension's studies if their file lists no artifacts: figures and tables that fit any study.

An artifact of any file may be one of them too: `default: over_time`, of the one study that it names.
"""

from collections.abc import Mapping

from privarms.studies import library

MODULE = "artifacts.defaults"
KINDS = {"over_time": "figure", "final": "figure", "pulls": "figure", "summary": "table"}
TEXTS = {
    "over_time": ("over time", "Means with 95% intervals; a panel a point of the grid, a curve a policy and setting."),
    "final": ("at the end", "Means with 95% intervals along each axis of the grid; the others are fixed in a panel."),
    "pulls": ("pulls of each arm", "Mean pulls at the horizon with 95% intervals."),
    "summary": ("the numbers", "Means, their standard errors and 95% intervals, and quantiles, at the horizon."),
}
CHECKPOINTS = {"count": 40, "first": 10}


def completed(content: Mapping) -> dict:
    """A paper's content with default artifacts, if it lists none.

    A study that does not say what is recorded records regret along the way and, in runs of their own under the name
    {study}_pulls, the pulls of each arm, if its protocol can.
    """
    if "artifacts" in content:
        return dict(content)
    studies, artifacts = {}, {}
    for name, study in content["studies"].items():
        for own, entry in _studies(name, study, content["studies"]).items():
            studies[own] = entry
            for default in _fitting(entry):
                words, caption = TEXTS[default]
                artifacts[name if default == "summary" and own == name else f"{own}_{default}"] = {
                    "kind": KINDS[default],
                    "title": f"{own.replace('_', ' ')}: {words}",
                    "caption": caption,
                    "studies": [own],
                    "default": default,
                }
    return {**content, "studies": studies, "artifacts": artifacts}


def _studies(name: str, study: Mapping, others: Mapping) -> dict[str, dict]:
    timed = "over_time" in _fitting(study)
    found = {name: {**({"checkpoints": CHECKPOINTS} if timed else {}), **study}}
    records = _of_protocol(study).get("RECORDS", ())
    says = any("record" in one for one in (study, *study["policies"]))
    if "arms" in records and not says and f"{name}_pulls" not in others:
        policies = [{k: v for k, v in entry.items() if k != "checkpoints"} for entry in study["policies"]]
        rest = {k: v for k, v in study.items() if k != "checkpoints"}
        found[f"{name}_pulls"] = {**rest, "policies": policies, "record": "arms"}
    return found


def _fitting(study: Mapping) -> list[str]:
    """The default artifacts that can be made of a study."""
    protocol = _of_protocol(study)
    first = next(iter(protocol.get("RECORDS", ())), None)
    record = study.get("record", first)
    if record == "arms":
        return ["pulls"]
    timed = "t" in protocol.get("KEYS", ()) and record == first
    return [*(["over_time"] if timed else []), "final", "summary"]


def _of_protocol(study: Mapping) -> dict:
    known = study["protocol"] in library.names("protocols")
    return library.literals("protocols", study["protocol"]) if known else {}
