"""YAML files, read by PyYAML's safe loader; `model.checked` makes typed models of their content."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from privarms.errors import PrivarmsError

# As in YAML 1.2 and JSON, an exponent needs neither a sign nor a point before it. 1e6 is an integer, for horizons.
WHOLE = re.compile(r"[-+]?[0-9]+[eE]\+?[0-9]{1,2}$")
NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")


def read(file: Path) -> dict:
    """Return the mapping in one UTF-8 YAML file.

    Raises PrivarmsError for an unreadable file, a syntax fault (with its line), a duplicate key or one that is no text.
    """
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from None
    content = parse(text, file)
    if not isinstance(content, dict):
        raise PrivarmsError(f"{file}: expected a mapping of keys to values")
    return content


@cache
def lines(file: Path, *keys: str) -> tuple[int, int]:
    """Return the first and the last line of the value below these keys, in a file that `read` accepts."""
    text = Path(file).read_text(encoding="utf-8")
    node = yaml.compose(text, Loader=_Loader)
    for wanted in keys:
        key, node = next(pair for pair in node.value if pair[0].value == wanted)
    last = node.end_mark.line + 1
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        # A block ends where the next one begins, behind the comments of the next one.
        is_last = node.end_mark.index >= len(text.rstrip())
        written = text.splitlines()[: None if is_last else node.end_mark.line]
        while not written[-1].strip() or written[-1].lstrip().startswith("#"):
            written.pop()
        last = len(written)
    return key.start_mark.line + 1, last


def parse(text: str, place: Path | str):
    """Return the value that a text has as the content of one of our YAML files; place: for messages.

    Raises PrivarmsError as `read` does.
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except (ValueError, yaml.YAMLError) as error:
        raise _unreadable(place, error) from None


def _unreadable(place: Path | str, error: Exception) -> PrivarmsError:
    # PyYAML calls every text so.
    reason = " ".join(str(error).replace('in "<unicode string>",', "in").split())
    return PrivarmsError(f"{place}: cannot be read: {reason}; expected UTF-8 text in valid YAML")


# PyYAML has the fast loader only if it was built with libyaml.
SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(SAFE):
    """Loader that rejects duplicate keys. PyYAML keeps only the last one, so a study could be lost unnoticed."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = set()
        for key, _ in node.value:
            # Keys merged by `<<` belong to another mapping, above this one.
            if key.tag == "tag:yaml.org,2002:merge" or key.start_mark.index < node.start_mark.index:
                continue
            fault = None
            if key.tag != "tag:yaml.org,2002:str":
                fault = f"expected a text as key, found {key.value!r}; put it in quotes"
            elif key.value in keys:
                fault = f"duplicate key {key.value!r}"
            if fault:
                raise yaml.constructor.ConstructorError(None, None, fault, key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver("!whole", WHOLE, list("-+0123456789"))
_Loader.add_constructor("!whole", lambda _, node: int(float(node.value)))
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", NUMBER, list("-+.0123456789"))


def scalar(text: str) -> Any:
    """Return the value that a text without quotes has in one of our YAML files."""
    loader = _Loader("")
    try:
        return loader.construct_object(yaml.ScalarNode(loader.resolve(yaml.ScalarNode, text, (True, False)), text))
    except (ValueError, OverflowError):
        return text  # looks like a date or a number, but is none
