"""report.html: headlines, every artifact with measured and published values, and the whole ledger."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from privarms.audits.verdicts import NO_VIOLATION, NOT_AUDITED, NOT_CAUGHT, NOT_PRIVATE
from privarms.data import STAND_IN
from privarms.files.whole import write_text
from privarms.ledger import outcomes
from privarms.ledger.rules import VERDICTS
from privarms.report import cards as of_cards
from privarms.report import pictures
from privarms.report import statements as of_statements
from privarms.report.statements import brief
from privarms.report.words import whole, words

DATA_WORDS = {"simulated": "simulated", "real": "real data", "stand-in": STAND_IN, "": "nothing measured"}
# The page shows at most this number of rows of a table, and the front page this number of columns.
ROWS_SHOWN, FRONT_COLUMNS = 20, 4
LINKS = {"pdf": "PDF", "svg": "SVG", "png": "PNG", "csv": "CSV", "md": "Markdown", "tex": "TeX"}
# Verdict of an audit -> CSS class of its colour and sign.
AUDIT_LOOKS = {
    NOT_PRIVATE: "bad",
    NO_VIOLATION: "good",
    NOT_CAUGHT: "open",
    NOT_AUDITED: "unverifiable",
}


def build_report(
    output: Path,
    *,
    scale: str,
    revision: str,
    seed: int,
    papers: list[Mapping],
    ledger: Path,
    statements: Path,
    datasets: list[Mapping],
    audits: Mapping[str, Path],
    options: str,
    glossary: Sequence[tuple[str, str]],
) -> None:
    """Write the page reproducibly, byte for byte. Raise PrivarmsError for a missing or malformed ledger or table.

    papers: as `planning.outputs.Outputs.described` returns them; a figure needs its png, a table its csv. If an
    artifact has no `files`, it was not made and its `reason` says why
    ledger, statements: CSV files of `ledger.files`; datasets: as `planning.datasets.Datasets.described` returns them
    revision, seed: of the program that made the results, and of their random streams
    audits: suffix -> file of the figure of all audits; `table` is the file with all rows
    options: of the run's command, for the commands that the page shows
    glossary: words and their meanings, as `words.glossary` returns them
    """
    stated = of_statements.of_papers(ledger, statements)
    folder = Path(output).parent
    audit_rows, audited = read_audits(audits["csv"]), pd.read_csv(audits["csv"])

    def shown(artifact: Mapping) -> dict:
        return _shown(artifact, folder)

    shown_papers = [of_cards.of_paper(paper, stated, audited, shown, options) for paper in papers]
    cards = {a["address"]: card for paper in shown_papers for card in paper["cards"] for a in card["artifacts"]}
    for statement in stated:
        card = cards.get(f"{statement['paper']}/{statement['artifact']}")
        statement["where"] = card["short"] if card else statement["artifact"].replace("_", " ")
        statement["address"] = f"{statement['paper']}/{statement['artifact']}" if card else ""
    missing = [dataset["name"] for dataset in datasets if dataset["status"] != "real"]
    for case in (case for statement in stated for case in statement["cases"]):
        case["needs_data"] = "yes" if of_statements.lacking([case], missing) else "no"
    verdicts = Counter(case["verdict"] for statement in stated for case in statement["cases"])
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"words": words, "look": of_statements.look, "meaning": of_statements.meaning}
    environment.filters |= {
        "once": of_statements.once,
        "several": of_statements.several,
        "in_words": of_statements.in_words,
    }
    environment.filters |= {"whole": whole, "in_number": outcomes.in_number}
    page = environment.get_template("page.html.j2").render(
        scale=scale,
        revision=revision,
        seed=seed,
        papers=shown_papers,
        stated=stated,
        counts=of_statements.counts(stated),
        states=outcomes.STATES,
        how={"numbers": of_statements.NUMBERS, "range": of_statements.RANGE},
        verdicts={word: verdicts[word] for word in VERDICTS if verdicts[word]},
        post_hoc=sum(bool(case["post_hoc"]) for statement in stated for case in statement["cases"]),
        kind_meanings=of_statements.KIND_MEANINGS,
        meanings=of_statements.MEANINGS,
        outcome_meanings=of_statements.OUTCOME_MEANINGS,
        fronts=[a for paper in shown_papers for a in paper["fronts"]],
        missing=[dataset for dataset in datasets if dataset["status"] != "real"],
        datasets=datasets,
        data_words=DATA_WORDS,
        ledger_link=link(ledger, folder),
        audits=audit_rows,
        audit_counts={word: sum(row["verdict"] == word for row in audit_rows) for word in AUDIT_LOOKS},
        audits_image=pictures.embedded(audits),
        audits_links={"all rows (CSV)": link(audits["table"], folder), "PDF": link(audits["pdf"], folder)},
        audit_looks=AUDIT_LOOKS,
        glossary=glossary,
        style=Markup(loader.get_source(environment, "page.css")[0]),
        script=Markup(loader.get_source(environment, "page.js")[0]),
    )
    # The template's indentation would add 300 kB to the page.
    write_text(output, re.sub(r"\n\s+", "\n", page))


def read_audits(path: Path) -> list[dict]:
    """Return the rows of a summary of audits as texts, with numbers rounded."""
    rows = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")
    digits = {"claimed_epsilon": 4, "exact": 4, "lower_bound": 4, "level": 5, "trials": 9}
    digits |= {"power_against_half_noise": 3, "broken_twin_lower_bound": 4}
    return [
        row | {"setting": words(row["setting"])} | {name: brief(row[name], n) for name, n in digits.items()}
        for row in rows
    ]


def _shown(artifact: Mapping, folder: Path) -> dict:
    """Return an artifact with its picture or its table."""
    files = artifact["files"]
    return {
        **artifact,
        **{
            key: [row | {"link": link(row["file"], folder)} for row in artifact[key]] for key in ("settings", "further")
        },
        "links": {word: link(files[suffix], folder) for suffix, word in LINKS.items() if suffix in files},
        # Only a table with a print layout has a PNG.
        "image": pictures.embedded(files) if "png" in files else None,
        "table": _table(Path(files["csv"])) if files and "png" not in files else None,
        "front_table": _table(Path(files["csv"]), FRONT_COLUMNS) if _is_front_table(artifact) else None,
    }


def _is_front_table(artifact: Mapping) -> bool:
    return bool(artifact["front"] and artifact["kind"] == "table" and artifact["files"])


def _table(path: Path, columns: int | None = None) -> dict:
    """Return a table's header, its first rows and its total number of rows; columns: how many (default: all)."""
    # Our tables write a missing value as an empty field; a word such as None is a value.
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""]).iloc[:, :columns]
    rows = frame.head(ROWS_SHOWN).itertuples(index=False)
    return {
        "header": [
            {"name": name.replace("_", " "), "numeric": pd.api.types.is_numeric_dtype(kind)}
            for name, kind in zip(frame.columns, frame.dtypes, strict=True)
        ],
        "rows": [["" if pd.isna(cell) else brief(str(cell), 5) for cell in row] for row in rows],
        "n_rows": len(frame),
    }


def link(path: Path | str, folder: Path) -> str:
    return quote(Path(os.path.relpath(path, folder)).as_posix())
