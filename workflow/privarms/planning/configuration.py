"""The configuration of a run, and of papers at one scale."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from privarms.errors import PrivarmsError
from privarms.files.settings import parse, read, validate
from privarms.planning import grids, tiny

SCALES = ("tiny", "quick", "paper")
# The protocol of a study with the key `audit`.
AUDIT = "audit"


def of_run(files: Sequence[Path | str], options: Sequence[str] = ()) -> dict:
    """Return the configuration of a run: later files override earlier ones, and options KEY=VALUE override files.

    Files and options have the values that the same text has in studies.yaml, such as 1e-2 for a number.

    Raises PrivarmsError for a fault, with the file or the option that has it, and for an option that is given twice.
    """
    # Snakemake takes long to import, and most users of this module need no more than the functions below.
    from snakemake.utils import update_config

    config: dict = {}
    for file in files:
        place = Path(str(file).removeprefix(f"{Path.cwd()}/"))
        update_config(config, read(place))
        validate(config, "config", place)
    seen: set[str] = set()
    for option in options:
        key, _, text = option.partition("=")
        if key in seen:
            raise PrivarmsError(f"--config {key}: expected one value; found several; write {key}=... once")
        seen.add(key)
        update_config(config, {key: parse(text, f"--config {key}")})
        validate(config, "config", "--config")
    return config


def listed(value) -> list:
    """Return a list unchanged, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]


def _depends_on_scale(value: Mapping) -> bool:
    return {"quick", "paper"} <= set(value) <= set(SCALES)


def resolve(value, scale: str):
    """Replace every mapping of {quick, paper} or {tiny, quick, paper} by its value at the scale.

    Without a value of its own, scale tiny has that of quick.
    """
    if isinstance(value, Mapping):
        if _depends_on_scale(value):
            return resolve(value.get(scale, value["quick"]), scale)
        return {k: resolve(v, scale) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve(v, scale) for v in value]
    return value


def _at_scales(file: Path, schema: str, otherwise: Mapping | None = None) -> dict[str, dict]:
    content = {**(otherwise or {}), **read(file)}
    if "inference" in content:
        raise PrivarmsError(
            f"{file}: inference: found a section; expected none. Delete it, and register each table in the paper's "
            "inference.py: `@inference(studies=[...])` above its function"
        )
    at = {one: grids.filled(resolve(content, one), file, one) for one in SCALES}
    for one in SCALES:
        validate(at[one], schema, file)
    cut = {name: tiny.cut(study) for name, study in at["tiny"]["studies"].items()}
    return {**at, "tiny": {**at["tiny"], "studies": _with_own_values(cut, content["studies"])}}


def _with_own_values(cut, content):
    """Return cut studies in which the values {tiny: ...} of the file are not cut."""
    if isinstance(content, Mapping) and isinstance(cut, Mapping):
        return {k: _own_value(v, content[k]) if k in content else v for k, v in cut.items()}
    # A long axis is cut to fewer numbers, which have no values of their own.
    if isinstance(content, list) and isinstance(cut, list) and len(content) == len(cut):
        return [_own_value(v, one) for v, one in zip(cut, content, strict=True)]
    return cut


def _own_value(cut, content):
    if isinstance(content, Mapping) and _depends_on_scale(content):
        return content.get("tiny", cut)
    return _with_own_values(cut, content)


def _with_protocols(studies: Mapping) -> dict[str, dict]:
    """Return studies in which an audit has its protocol, and takes the place of the environment."""
    complete = {}
    for name, study in studies.items():
        if AUDIT in study:
            audit = {"name": study[AUDIT]} if isinstance(study[AUDIT], str) else study[AUDIT]
            others = {key: value for key, value in study.items() if key != AUDIT}
            study = {"protocol": AUDIT, "environment": audit, **others}
        complete[name] = study
    return complete


def _setting(study: Mapping) -> dict:
    """Return a study without the keys that change only how many runs there are and what they record."""
    of_runs = ("replicates", "block", "checkpoints", "seconds_per_step")
    policies = [{k: v for k, v in entry.items() if k not in of_runs} for entry in study["policies"]]
    return {k: v for k, v in study.items() if k not in of_runs} | {"policies": policies}


def load_paper(file: Path, scale: str, extension: bool = False) -> dict:
    """Return a paper's studies.yaml at a scale; an extension's file needs only its studies.

    `shrunk` lists the studies whose settings at this scale are not those of scale paper.
    """
    name, folder = file.parent.name, file.resolve().parents[2].name
    if extension and not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise PrivarmsError(
            f"{file}: expected a folder name of lower-case letters and digits, without _ or -; rename the folder"
        )
    about = {"title": name, "authors": f"The extension {folder}", "venue": "unpublished", "readings": []}
    at = _at_scales(file, "study", about if extension else None)
    at = {one: {**content, "studies": _with_protocols(content["studies"])} for one, content in at.items()}
    paper = at[scale]
    if not extension and "year" not in paper:
        raise PrivarmsError(f"{file}: the key 'year' is missing; add it")
    full = at["paper"]["studies"]
    shrunk = [name for name, study in paper["studies"].items() if _setting(study) != _setting(full[name])]
    return {**paper, "paper": name, "shrunk": shrunk}
