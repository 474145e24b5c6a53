"""Policies that the configuration adds to existing studies: `add: {PAPER: {STUDY: [{policy: NAME}, ...]}}`."""

from collections.abc import Mapping

from privarms.errors import check_known
from privarms.files import settings
from privarms.planning import configuration

WHERE = "--configfile or --config"


def add(papers: Mapping[str, Mapping], config: Mapping) -> dict[str, Mapping]:
    """Return the papers with the added policies at the end of their studies; a study's `added` is their number."""
    papers = dict(papers)
    for paper, studies in config.get("add", {}).items():
        check_known(f"{WHERE}: add.{paper}", "paper", paper, papers)
        for study, entries in studies.items():
            key, old = f"add.{paper}.{study}", papers[paper]["studies"]
            check_known(f"{WHERE}: {key}", "study", study, old)
            for scale in configuration.SCALES:
                for i, entry in enumerate(configuration.resolve(entries, scale)):
                    settings.validate(entry, "study", f"{WHERE}: {key}[{i}]", part="policy")
            entries = configuration.resolve(entries, config["scale"])
            new = {**old[study], "policies": [*old[study]["policies"], *entries], "added": len(entries)}
            papers[paper] = {**papers[paper], "studies": {**old, study: new}}
    return papers


def place(file: str, paper: str, study: str, entry: int, content: Mapping) -> tuple[str, str]:
    """Return the file and the key of an entry of a study's policies, for messages."""
    own = len(content["policies"]) - content.get("added", 0)
    return (
        (file, f"studies.{study}.policies[{entry}]") if entry < own else (WHERE, f"add.{paper}.{study}[{entry - own}]")
    )
