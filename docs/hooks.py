"""Pages of the documentation that are generated: lists of the library's modules, and pages that lie elsewhere.

MkDocs calls `on_files` and `on_page_markdown` (mkdocs.yml, hooks).
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"  # modules are imported for their docstrings only

from mkdocs.structure.files import File

from privarms.cli.command import parser
from privarms.registry import library, modules
from privarms.registry.modules import EnvironmentModule, PolicyModule

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "workflow" / "privarms"
# Pages of the repository that belong to the documentation, by their place in it.
ELSEWHERE = {
    "reference/configuration.md": "config/README.md",
    "reference/data.md": "data/README.md",
}


def on_files(files, config):
    """Add the generated pages and, where a run is finished, its report."""
    pages = {
        "reference/policies.md": policies(),
        "reference/environments.md": environments(),
        "reference/audits.md": audits(),
        "reference/commands.md": commands(),
        **{place: _moved(place, source) for place, source in ELSEWHERE.items()},
        **dict(api()),
    }
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    report = ROOT / "results/paper/report.html"
    if report.is_file():
        files.append(File.generated(config, "report.html", abs_src_path=str(report)))
    return files


def on_page_markdown(markdown: str, page, **_) -> str:
    """Return a page without links to files that are not part of the documentation; their names stay."""
    here = (ROOT / "docs" / page.file.src_uri).parent
    places = {source: place for place, source in ELSEWHERE.items()}

    def moved(match: re.Match) -> str:
        text, target = match[1], match[2]
        path, _, heading = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path.startswith("../"):
            return match[0]
        file = os.path.relpath(os.path.normpath(here / path), ROOT)
        if file.startswith("docs/"):
            places[file] = file.removeprefix("docs/")
        if file in places:
            away = os.path.relpath(places[file], os.path.dirname(page.file.src_uri) or ".")
            return f"[{text}]({away}{'#' + heading if heading else ''})"
        return f"{text} (`{file}`)" if file not in text else text

    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", moved, markdown)


def _moved(place: str, source: str) -> str:
    """Return a page of the repository with its links as seen from its place in docs/."""
    text = (ROOT / source).read_text(encoding="utf-8")
    away = os.path.relpath(ROOT / Path(source).parent, (ROOT / "docs" / place).parent)
    return re.sub(r"\]\((?![a-z]+:|#)", f"]({away}/", text)


def _first_sentence(module) -> str:
    first = (module.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(first.split())


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _parameters(arguments) -> str:
    shown = [f"`{name}`" if a.required else f"`{name}={a.default}`" for name, a in arguments.items()]
    return ", ".join(shown)


def policies() -> str:
    """Return the page of all policies, a table per family."""
    fast: dict[str, list[str]] = {}
    for file in sorted(PACKAGE.glob("fast_paths/*/[a-z]*__*.py")):
        policy, environment = file.stem.split("__")
        fast.setdefault(policy, []).append(environment)
    used = _used()
    lines = ["# Policies", "", "All policies of the library. A fast path is an exact, faster simulation.", ""]
    families: dict[str, list[str]] = {}
    for name in library.names("policies"):
        families.setdefault(PolicyModule(name).family, []).append(name)
    for family, names in sorted(families.items()):
        lines += [f"## {family.replace('_', ' ')}", ""]
        lines += [_row("policy", "what", "privacy", "parameters", "fast path", "used by"), _row(*["---"] * 6)]
        for name in names:
            private = "epsilon" if PolicyModule(name).claims_epsilon else "none"
            if private == "epsilon" and family == "locally_private":
                private = "local epsilon"
            what = f"**{PolicyModule(name).label}**: {_first_sentence(PolicyModule(name).module)}"
            cells = (f"`{name}`", what, private, _parameters(PolicyModule(name).arguments))
            lines.append(_row(*cells, ", ".join(fast.get(name, [])), ", ".join(used.get(name, []))))
        lines.append("")
    return "\n".join(lines)


def _used() -> dict[str, list[str]]:
    """Return policy -> the papers whose studies run it."""
    used: dict[str, list[str]] = {}
    for file in sorted((ROOT / "config/papers").glob("*/studies.yaml")):
        for policy in sorted(set(re.findall(r"policy: ([a-z0-9_]+)", file.read_text(encoding="utf-8")))):
            used.setdefault(policy, []).append(file.parent.name)
    return used


def environments() -> str:
    """Return the page of all environments."""
    lines = ["# Environments", "", _row("environment", "what", "parameters"), _row(*["---"] * 3)]
    for name in library.names("environments"):
        what = _first_sentence(EnvironmentModule(name).module)
        lines.append(_row(f"`{name}`", what, _parameters(EnvironmentModule(name).arguments)))
    return "\n".join(lines)


def audits() -> str:
    """Return the page of all privacy audits."""
    lines = ["# Privacy audits", "", "`privarms audit SUBJECT` runs the audits of a policy or mechanism.", ""]
    lines += [_row("audit", "what", "subjects"), _row(*["---"] * 3)]
    for name, subjects in modules.audits().items():
        families = EnvironmentModule(name).audited_families
        about = ", ".join(f"`{s}`" for s in subjects) or f"any policy of {', '.join(families)}"
        lines.append(_row(f"`{name}`", _first_sentence(EnvironmentModule(name).module), about))
    return "\n".join(lines)


def commands() -> str:
    """Return the page of the command's help texts and the Makefile's targets."""
    lines = ["# Commands", "", "## make", "", _row("target", "what"), _row("---", "---")]
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target, what in re.findall(r"^#: (\S+) - (.+)$", text, flags=re.MULTILINE):
        lines.append(_row(f"`make {target}`", what))
    lines += ["", "## privarms", "", "```", parser().format_help().rstrip(), "```", ""]
    for action in parser()._subparsers._group_actions:
        for name, part in action.choices.items():
            lines += [f"### privarms {name}", "", "```", part.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def api() -> Iterator[tuple[str, str]]:
    """Yield the pages of the library's public modules, and their index."""
    names = []
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        if any(part.startswith("_") for part in parts):
            continue
        name = ".".join(parts)
        names.append(name)
        yield f"api/{name}.md", f"::: {name}\n"
    listed = [f"- [`{name}`]({name}.md)" for name in names]
    yield "api/index.md", "\n".join(["# The library", "", "One page per public module.", "", *listed])
