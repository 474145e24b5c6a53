"""Policies that the configuration adds to existing studies: `add: {PAPER: {STUDY: [{policy: NAME}, ...]}}`."""

from collections.abc import Mapping
from dataclasses import replace

from privarms.errors import check_known
from privarms.files.model import checked
from privarms.planning.configuration import SCALES, Configuration, resolve
from privarms.planning.studies import Entry, Paper

WHERE = "--configfile or --config"


def add(papers: Mapping[str, Paper], config: Configuration) -> dict[str, Paper]:
    """Return the papers with the added policies at the end of their studies."""
    papers = dict(papers)
    for paper, studies in config.add.items():
        check_known(f"{WHERE}: add.{paper}", "paper", paper, papers)
        for name, entries in studies.items():
            key = f"{WHERE}: add.{paper}.{name}"
            known = dict(papers[paper].studies)
            check_known(key, "study", name, known)
            places = [f"{key}[{i}]" for i in range(len(entries))]
            added = {
                scale: [checked(Entry, entry, place).at(place) for entry, place in zip(at_scale, places, strict=True)]
                for scale, at_scale in ((scale, resolve(entries, scale)) for scale in SCALES)
            }
            policies = [*known[name].policies, *added[config.scale]]
            known[name] = known[name].model_copy(update={"policies": policies})
            papers[paper] = replace(papers[paper], studies=known)
    return papers
