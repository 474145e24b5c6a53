"""Warn of words and sentences that do not follow CONTRIBUTING.md: long ones, and words of a private dialect.

    python tools/language.py

It reads pages, docstrings, messages, comments, statements and the report, and always succeeds.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "config" / "papers"
LIBRARY = ROOT / "workflow" / "privarms"
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("[cd]*/README.md"), *(ROOT / "docs").glob("*.md")]
# docs/papers quotes papers and the ledger.
PAGES += [*(ROOT / "docs/developer").glob("*.md")]
MODULES = sorted([*LIBRARY.rglob("*.py"), *(ROOT / "workflow/scripts").glob("*.py"), *(ROOT / "tools").glob("*.py")])
SETTINGS = sorted(PAPERS.glob("*/*.yaml"))
REPORT = LIBRARY / "report" / "page.html.j2"

LONGEST, LONGEST_OF_STATEMENTS = 30, 25  # words of a sentence; a headline has as many in all
SENTENCES = 3  # of a test; two, if a third one says nothing new
LIST = 8  # commas of a list of columns, which is no sentence
WRITE = {
    r"anew": "again",
    r"besides?": "next to, in addition, or compared with",
    r"but for": "except",
    r"come by|comes by": "obtain",
    r"hangs? on": "depend on",
    r"in place of": "instead of",
    r"laws? of (?!large numbers)": "distribution",
    r"mend(s|ed)?": "fix",
    r"nobody|somebody|whoever": "the agent's name",
    r"(?<=,) so that": "so",
    r"(?<!-)stands? (?!in\b)": "is, is listed or is stored",
    r"strangers?": "user, or policy of an extension",
    r"surely": "significantly, or with 99.9% confidence",
    r"(?<!cannot be )told": "shown, or receives",
    r"twins?": "control, or counterpart",
}


def prose(text: str) -> Iterator[str]:
    """Yield the sentences of a text; a paragraph, a list item and a table cell end one."""
    for paragraph in re.split(
        r"\n\s*\n|\n\s*[-*|#] |\n\s*\d+\. |\||:\n|\n(?=\s*[\w., -]+ ?: )|\n(?=\w+  +)|-----", text
    ):
        yield from re.split(r"(?<=[.!?:;])\s+", " ".join(paragraph.split()))


def of_page(path: Path) -> Iterator[str]:
    """Yield the text of a page without code and without what is generated from the ledger."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<!-- generated.*?<!-- end -->", "", text, flags=re.DOTALL)
    text = re.sub(r"```.*?```", "\n\n", text, flags=re.DOTALL)
    yield re.sub(r"\]\([^)]*\)", "]", text)


def of_module(path: Path) -> Iterator[str]:
    """Yield docstrings, messages and comments of a module."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 3:
            yield node.value
    comments, last = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            alone = token.line.lstrip().startswith("#")
            comments.append("\n\n" * (not alone or token.start[0] != last + 1) + token.string.lstrip("# "))
            last = token.start[0]
    yield " ".join(comments)


def of_settings(path: Path) -> Iterator[str]:
    """Yield the texts of a YAML file of ours; a quotation keeps the words of its paper."""

    def texts(value, key=""):
        if isinstance(value, dict):
            for name, part in value.items():
                if not (name in ("quote", "statement") and not value.get("ours")):
                    yield from texts(part, name)
        elif isinstance(value, list):
            for part in value:
                yield from texts(part, key)
        elif isinstance(value, str) and value.count(" ") > 3:
            yield re.sub(r'"[^"]*"|“[^”]*”', "QUOTED", value)

    yield from set(texts(yaml.safe_load(path.read_text(encoding="utf-8"))))


def of_report(path: Path) -> Iterator[str]:
    """Yield the fixed words of the report."""
    yield re.sub(r"\{[{%#].*?[}%#]\}|<[^>]*>", "\n\n", path.read_text(encoding="utf-8"), flags=re.DOTALL)


TEXTS = {
    **dict.fromkeys(PAGES, of_page),
    **dict.fromkeys(MODULES, of_module),
    **dict.fromkeys(SETTINGS, of_settings),
    REPORT: of_report,
}


def faults(text: str, longest: int = LONGEST) -> Iterator[str]:
    """Yield what is wrong with each sentence of a text."""
    for sentence in prose(text):
        words = re.findall(r"[A-Za-z]{2,}", sentence)  # formulas have few
        if len(words) > longest and sentence.count(",") < LIST:
            yield f"{len(words)} words: {sentence}"
        for word, better in WRITE.items():
            if re.search(rf"(?<!\w)({word})" + r"\b" * word[-1].isalnum(), sentence, re.IGNORECASE):
                yield f"write {better}: {sentence}"


def of_statements(path: Path) -> Iterator[str]:
    """Yield the long headlines and tests of a paper's statements."""
    for statement in yaml.safe_load(path.read_text(encoding="utf-8"))["statements"]:
        headline, test = (" ".join(statement.get(name, "").split()) for name in ("headline", "test"))
        if len(headline.split()) > LONGEST_OF_STATEMENTS:
            yield f"{len(headline.split())} words: {headline}"
        if len(re.split(r"(?<=[.!?]) ", test)) > SENTENCES:
            yield f"more than {SENTENCES} sentences: {test}"


def warnings() -> Iterator[str]:
    """Yield a line for each fault of each text."""
    for path, texts in TEXTS.items():
        is_statements = path.name == "statements.yaml"
        longest = LONGEST_OF_STATEMENTS if is_statements else LONGEST
        found = [one for text in texts(path) for one in faults(text, longest)]
        for one in [*found, *(of_statements(path) if is_statements else ())]:
            yield f"{path.relative_to(ROOT)}: warning: {one}"


if __name__ == "__main__":
    for line in warnings():
        print(line)
