"""Policies that the configuration adds to studies of others: `add: {PAPER: {STUDY: [{policy: NAME}, ...]}}`."""

from collections.abc import Mapping

from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.studies import configuration

WHERE = "--configfile or --config"


def add(papers: Mapping[str, Mapping], config: Mapping) -> dict[str, Mapping]:
    """The papers with these policies behind those of the studies; a study says of how many: `added`."""
    found = dict(papers)
    for paper, studies in config.get("add", {}).items():
        if paper not in papers:
            raise PrivarmsError(f"{WHERE}: add.{paper}: unknown paper; expected one of {', '.join(papers)}")
        content = found[paper]
        for study, entries in studies.items():
            if study not in content["studies"]:
                known = ", ".join(content["studies"])
                raise PrivarmsError(f"{WHERE}: add.{paper}.{study}: unknown study; expected one of {known}")
            entries = _at_scale(entries, config["scale"], f"add.{paper}.{study}")
            old = content["studies"][study]
            new = {**old, "policies": [*old["policies"], *entries], "added": len(entries)}
            content = {**content, "studies": {**content["studies"], study: new}}
        found[paper] = content
    return found


def place(file: str, paper: str, study: str, entry: int, content: Mapping) -> tuple[str, str]:
    """The file and the key of an entry of a study's policies, as messages name them."""
    own = len(content["policies"]) - content.get("added", 0)
    if entry < own:
        return file, f"studies.{study}.policies[{entry}]"
    return WHERE, f"add.{paper}.{study}[{entry - own}]"


def _at_scale(entries: list, scale: str, key: str) -> list:
    for one in configuration.SCALES:
        for i, entry in enumerate(configuration.resolve(entries, one)):
            settings.validate(entry, "study", f"{WHERE}: {key}[{i}]", part="policy")
    return configuration.resolve(entries, scale)
