"""Policies that the configuration adds to studies of others: `add: {PAPER: {STUDY: [{policy: NAME}, ...]}}`."""

from collections.abc import Mapping

from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.studies import configuration

WHERE = "--configfile or --config"


def add(papers: Mapping[str, Mapping], config: Mapping) -> dict[str, Mapping]:
    """Return the papers with these policies after those of the studies; `added` of a study is their number."""
    papers = dict(papers)
    for paper, studies in config.get("add", {}).items():
        _refuse_unknown(f"add.{paper}", "paper", paper, papers)
        for study, entries in studies.items():
            key, old = f"add.{paper}.{study}", papers[paper]["studies"]
            _refuse_unknown(key, "study", study, old)
            for scale in configuration.SCALES:
                for i, entry in enumerate(configuration.resolve(entries, scale)):
                    settings.validate(entry, "study", f"{WHERE}: {key}[{i}]", part="policy")
            entries = configuration.resolve(entries, config["scale"])
            new = {**old[study], "policies": [*old[study]["policies"], *entries], "added": len(entries)}
            papers[paper] = {**papers[paper], "studies": {**old, study: new}}
    return papers


def _refuse_unknown(key: str, kind: str, name: str, known: Mapping) -> None:
    if name not in known:
        raise PrivarmsError(f"{WHERE}: {key}: unknown {kind}; expected one of {', '.join(known)}")


def place(file: str, paper: str, study: str, entry: int, content: Mapping) -> tuple[str, str]:
    """Return the file and the key of an entry of a study's policies, as messages name them."""
    own = len(content["policies"]) - content.get("added", 0)
    return (
        (file, f"studies.{study}.policies[{entry}]") if entry < own else (WHERE, f"add.{paper}.{study}[{entry - own}]")
    )
