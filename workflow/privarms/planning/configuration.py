"""The configuration of a run, and of papers at one scale."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from privarms.errors import PrivarmsError
from privarms.files import model
from privarms.files.model import Different, Model, Positive, Text, Whole, checked
from privarms.files.settings import parse, read
from privarms.planning import grids, tiny
from privarms.planning.studies import Paper, StudiesFile, Study

SCALES = ("tiny", "quick", "paper")


def _known_scale(scale: str) -> str:
    if scale not in SCALES:
        raise model.expected(f"one of {', '.join(SCALES)}")
    return scale


class Configuration(Model):
    """config/config.yaml with the files and options that override it; config/README.md explains the keys."""

    NULLABLE = frozenset(["mirror"])
    scale: Annotated[str, AfterValidator(_known_scale), Field(json_schema_extra={"enum": list(SCALES)})]
    seed: Annotated[Whole, Field(ge=0)]
    shard_seconds: Positive
    papers: Text
    sources: Text
    mirror: str | None = None
    audit_trials: Annotated[Whole, Field(ge=1, le=10**15)] = 10_000
    extensions: Different[Text] = Field(default_factory=list)
    add: dict[str, dict[str, Annotated[list[dict[str, Any]], Field(min_length=1)]]] = Field(default_factory=dict)


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
        checked(Configuration, config, place)
    seen: set[str] = set()
    for option in options:
        key, _, text = option.partition("=")
        if key in seen:
            raise PrivarmsError(f"--config {key}: expected one value; found several; write {key}=... once")
        seen.add(key)
        update_config(config, {key: parse(text, f"--config {key}")})
        checked(Configuration, config, "--config")
    return config


def _depends_on_scale(value: Mapping) -> bool:
    return {"quick", "paper"} <= set(value) <= set(SCALES)


def resolve(value: Any, scale: str) -> Any:
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


def _at_scales(content: Mapping, file: Path) -> dict[str, StudiesFile]:
    """Return the content of a studies.yaml at each scale."""
    if "inference" in content:
        raise PrivarmsError(
            f"{file}: inference: found a section; expected none. Delete it, and register each table in the paper's "
            "inference.py: `@inference(studies=[...])` above its function"
        )
    written = {one: grids.filled(resolve(content, one), file, one) for one in SCALES}
    at = {one: checked(StudiesFile, written[one], file) for one in SCALES}
    # `tiny.cut` needs studies without faults.
    cut = {name: tiny.cut(study) for name, study in written["tiny"]["studies"].items()}
    of_tiny = written["tiny"] | {"studies": _with_own_values(cut, content["studies"])}
    return at | {"tiny": checked(StudiesFile, grids.filled(of_tiny, file, "tiny"), file)}


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


def _setting(study: Study) -> Study:
    """Return a study without the keys that change only how many runs there are and what they record."""
    of_runs: dict[str, None] = dict.fromkeys(("replicates", "block", "checkpoints", "seconds_per_step"))
    policies = [entry.model_copy(update=of_runs) for entry in study.policies]
    return study.model_copy(update=of_runs | {"policies": policies})


def load_paper(file: Path, scale: str, extension: bool = False) -> Paper:
    """Return a paper's studies.yaml at a scale; an extension's file needs only its studies."""
    name, folder = file.parent.name, file.resolve().parents[2].name
    if extension and not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise PrivarmsError(
            f"{file}: expected a folder name of lower-case letters and digits, without _ or -; rename the folder"
        )
    content = read(file)
    if extension:
        about = {"title": name, "authors": f"The extension {folder}", "venue": "unpublished", "readings": []}
        content = about | content
    at = _at_scales(content, file)
    if not extension and at[scale].year is None:
        raise PrivarmsError(f"{file}: the key 'year' is missing; add it")
    studies, full = at[scale].studies, at["paper"].studies
    shrunk = [name for name, study in studies.items() if _setting(study) != _setting(full[name])]
    return Paper(name, at[scale], studies, tuple(shrunk))
