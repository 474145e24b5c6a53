"""Pages of papers in Markdown, with the content of the report: `make readme` writes them to docs/papers."""

import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from privarms.files.numbers import joined
from privarms.ledger import outcomes
from privarms.report import statements as of_statements
from privarms.report.words import whole, words

SIGNS = {"good": "✓", "only": "✓", "bad": "✗", "depends": "◐", "open": "±", "measured": "◦", "unverifiable": "?"}
HEADER = ("statement", "setting", "published", "measured", "verdict")
# Tables with more lines are folded.
MOST_LINES = 12
# A quotation that is only named has at most this length.
MOST_CHARACTERS = 60
SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z(])")
# From docs/papers/ to the files of the repository.
AWAY = "../.."


def page(paper: Mapping, run: Mapping, costs: Mapping[tuple[str, str], Mapping]) -> str:
    """Return the page of one paper; paper: as `cards.of_paper`, whose artifacts have a `picture`, a path or "".

    run : the commit, date and datasets of the run; costs : (paper, artifact) -> minutes and megabytes
    """
    key = paper["key"]
    lines = [f"# {paper['short']}", "", f"*{paper['title']}*. {paper['byline']}", ""]
    lines += [made(run)]
    lines[-1] += " [How verdicts are made](../verdicts.md) explains the words."
    lines += ["", *first_table(paper)]
    if paper["stated"]:
        lines += ["", f"{of_statements.in_words(paper['counts'])}. {remarks(paper['stated'], run)}"]
    found = [f"- *{of_statements.both_variants(s)}*: {plain(s['headline'])}" for s in paper["headlines"]]
    lines += ["", "## Findings", "", *found] if found else []
    lines += ["", f"`snakemake {key} --cores 4` makes all of this again{cost(costs.get((key, '')))}.", ""]
    places: dict[str, str] = {}
    for part, title in ((paper["printed"], ""), (paper["beyond"], "Not in the paper")):
        shown = [card for card in part if card["statements"] or any(a["picture"] for a in card["artifacts"])]
        lines += ["", f"## {title}"] if title and shown and paper["printed"] else []
        for card in shown:
            lines += _card(card, costs, "##" if card["printed"] or not paper["printed"] else "###", places)
    if paper["rest"]:
        lines += ["", '<a id="other"></a>', "", "## Other statements", "", *_stated(paper["rest"], paper["rest_notes"])]
    if paper["readings"]:
        lines += [
            "",
            "## Assumptions",
            "",
            "Our choices where the paper leaves details open, each with its source.",
            "",
        ]
        lines += [f'{r["number"]}. <a id="{_assumption(r)}"></a>{_reading(r)}' for r in paper["readings"]]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def first_table(paper: Mapping) -> Iterator[str]:
    """Yield the table that says of each figure and table whether it holds."""
    answers = [answer for card in paper["printed"] + paper["beyond"] for answer in card["answers"]]
    if paper["rest_answer"]["text"]["answer"] or paper["rest_answer"]["program"]["answer"]:
        answers.append(paper["rest_answer"])
    if not answers:
        return
    has_program = any(answer["program"]["answer"] for answer in answers)
    rows = []
    for one in answers:
        place = anchor(one["address"]) if one["address"] else "other"
        cells = [_answer(one["text"]), *([_answer(one["program"])] * has_program)]
        rows.append([f"[{plain(one['name'])}](#{place})", *cells, plain(words(one["why"]))])
    yield table(("does it hold?", "the text", *(["the authors' program"] * has_program), "why"), rows)
    yield ""
    text = "The answer follows from comparisons and printed numbers. *Also* counts theorems, identities and words."
    # A statement about Figure 8 is listed with its first panel, Figure 8a.
    names = (re.match(r"\D+\d+", artifact["label"]) for card in paper["printed"] for artifact in card["artifacts"])
    about = {found[0] for one in answers if (found := re.match(r"(Figure|Table) \d+", one["name"]))}
    without = sorted({name[0] for name in names if name} - about)
    yield text + (f" No statement is about {joined(without)}." if without else "")


def anchor(address: str) -> str:
    """Return the name of a place on the page: "fig7a" for the artifact with the address ma2025/fig7a."""
    return address.rpartition("/")[2]


def _answer(of: Mapping) -> str:
    if not of["answer"]:
        return ""
    counts = f": {plain(of['counts'])}" if of["counts"] else ""
    return f"{SIGNS[of['look']]} **{plain(of['answer'])}**{counts}"


def table(header: Sequence, rows: Iterable[Sequence]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def made(run: Mapping) -> str:
    """Return when and at which commits a run was simulated and judged, a sentence."""
    commits = [f"simulated at commit `{run['commit'][:12]}`", f"judged at commit `{run['judged'][:12]}`"]
    if run["commit"] == run["judged"]:
        commits = [f"commit `{run['commit'][:12]}`"]
    return f"Made at full scale on {run['date']}: {', '.join(commits)}."


def remarks(stated: Iterable[Mapping], run: Mapping, away: str = AWAY) -> str:
    """Return the sentences below a table: what is post hoc, what only the programs do, which data are missing.

    away : the path to the files of the repository
    """
    stated = list(stated)
    cases = sum(len(s["cases"]) for s in stated)
    after = sum(int(s["post_hoc"]) for s in stated)
    said = f"{whole(after)} of {of_statements.several(cases, 'cases')} {'is' if after == 1 else 'are'} post hoc"
    text = f"{said}: chosen or changed after a value was seen."
    only = sum(s["outcome"] == outcomes.ONLY_RELEASED and s["group"] == outcomes.SENTENCES for s in stated)
    if only:
        sentences = of_statements.several(only, "sentences")
        text += f" {sentences} {'holds' if only == 1 else 'hold'} only in the authors' program."
    missing = [dataset for dataset, status in run["datasets"].items() if status == "missing"]
    missing = of_statements.lacking((case for s in stated for case in s["cases"]), missing)
    if missing:
        text += f" Missing data: {', '.join(missing)} ([data]({away}/data/README.md)). What needs them is open."
    return text


def cost(of: Mapping | None) -> str:
    """Return the time and memory of a command as the end of a sentence; "" if they are not known."""
    if not of:
        return ""
    minutes = float(of["minutes"])
    time = "less than a core-minute" if minutes < 1 else of_statements.several(round(minutes), "core-minutes")
    return f", in {time} and at most {of['megabytes']} MB per job"


def _card(card: Mapping, costs: Mapping, level: str, places: dict[str, str]) -> Iterator[str]:
    """Yield a card; places: the cards above that show a row of settings, by row, to which this one is added."""
    # GitHub and MkDocs give different addresses to a heading.
    yield ""
    yield " ".join(f'<a id="{anchor(a["address"])}"></a>' for a in card["artifacts"])
    yield from ("", f"{level} {card['title']}", "")
    if card["answers"]:
        yield "; ".join(_in_line(answer, len(card["answers"]) > 1) for answer in card["answers"]) + "."
        yield ""
    tabs = [tab for tab in card["tabs"] if any(a["picture"] for a in tab["artifacts"])]
    sentences: set[str] = set()
    for tab in tabs:
        if tab is not tabs[0]:
            yield from (f'<details markdown="1"><summary>{plain(tab["name"])}</summary>', "")
        drawn = [artifact for artifact in tab["artifacts"] if artifact["picture"]]
        yield " ".join(f"![{a['title']}]({a['picture']})" for a in drawn)
        yield from ("", *_captions(drawn, sentences), "")
        if tab is not tabs[0]:
            yield from ("</details>", "")
    yield from _settings(card["settings"], f"[{card['short']}](#{anchor(card['id'])})", places)
    if card["further"]:
        yield from (f"The statements also use {joined([_study(one) for one in card['further']])}.", "")
    yield from _stated(card["statements"], card["notes"])
    first = next((a for a in card["artifacts"] if a["files"]), card["artifacts"][0])
    known = costs.get((*first["address"].split("/"),))
    command = f"`{first['command']}` makes {first['label'] or 'it'} again{cost(known)}."
    yield from (" ".join([*_assumptions(card), command]), "")


def _captions(drawn: Sequence[Mapping], sentences: set[str]) -> Iterator[str]:
    """Yield the captions of pictures side by side: what each says alone, then what all say.

    sentences : those that the card already shows, which are left out; the new ones are added
    """
    captions: dict[str, list[str]] = {}
    for artifact in drawn:
        captions.setdefault(f"{artifact['caption']} {artifact['reason']}".strip(), []).append(artifact["label"])
    parts = {caption: [s for s in SENTENCE.split(caption) if s not in sentences] for caption in captions}
    all_say = [s for s in next(iter(parts.values()), []) if all(s in some for some in parts.values())]
    sentences.update(s for some in parts.values() for s in some)
    alone = {caption: [s for s in some if s not in all_say] for caption, some in parts.items()}
    for caption, labels in captions.items():
        if alone[caption]:
            named = f"**{joined(labels)}.** " if all(labels) else ""
            yield named + plain(words(" ".join(alone[caption])))
    if all_say:
        yield plain(words(" ".join(all_say)))


def _in_line(answer: Mapping, named: bool) -> str:
    parts = [("the text", answer["text"]), ("the authors' program", answer["program"])]
    said = "; ".join(f"{who}: {_answer(of)}" for who, of in parts if of["answer"])
    return f"{answer['name']}, {said}" if named else said.capitalize() if said[0] == "t" else said


def _settings(rows: Sequence[Mapping], here: str, places: dict[str, str]) -> Iterator[str]:
    """Yield the settings as a list, each once per page; a long list is folded.

    here : a link to this card; places : links to the cards above that show a row, to which the new rows are added
    """
    above = dict.fromkeys(places[str(row)] for row in rows if str(row) in places)
    rows = [row for row in rows if str(row) not in places]
    places |= {str(row): here for row in rows}
    if above:
        yield from (f"Settings: see {joined(list(above))}{', and also:' if rows else '.'}", "")
    if not rows:
        return
    lines = []
    for row in rows:
        policy = " ".join(filter(None, (row["policy"], row["variant"])))
        values = [f"{name} {row[name]}" for name in ("K", "d", "epsilon", "n") if row[name]]
        runs = "1 run" if row["runs"] == "1" else f"{row['runs']} runs"
        lines.append(
            f"- {policy}: {'; '.join([*values, *filter(None, [plain(row['others'])])])}; {runs} ({_study(row)})"
        )
    if len(lines) > MOST_LINES:
        lines = [
            f'<details markdown="1"><summary>Settings ({len(lines)} lines)</summary>',
            "",
            *lines,
            "",
            "</details>",
        ]
    yield from (*lines, "")


def _study(of: Mapping) -> str:
    """Return a link to the lines of a study, or only its name for a study of an extension."""
    first, last = of["lines"]
    return of["study"] if os.path.isabs(of["file"]) else f"[{of['study']}]({AWAY}/{of['file']}#L{first}-L{last})"


def _stated(stated: Sequence[Mapping], notes: Sequence[str]) -> Iterator[str]:
    """Yield the cases of all statements in few tables, how they were measured, and what was not measured."""
    measured = [s for s in stated if any(case["measured"] for case in s["cases"])]
    columns, lines = of_statements.side_by_side(measured)
    lines = {one: of for one, of in lines.items() if len(of["lines"]) <= MOST_LINES}
    beside = [s for s in measured if s["statement"] in lines]
    alone = [s for s in measured if s["table"]["grid"] and s not in beside]
    below = [s for s in measured if s not in beside and s not in alone]
    numbered = list(enumerate([*beside, *below], 1))
    names = {s["statement"]: f"{number}. {_named(s)}" for number, s in numbered}
    if beside:
        yield from (_side_by_side(columns, [(s, names[s["statement"]], lines[s["statement"]]) for s in beside]), "")
    if below:
        rows = [row for s in below for row in _rows(s, names[s["statement"]])]
        yield from (_without_empty(HEADER, rows), "")
    yield from (*(f"{number}. {_explained(s)}" for number, s in numbered), "")
    for statement in alone:
        yield from _grid(statement)
    if any(case["between"] for statement in measured for case in statement["table"]["rows"]):
        yield from (of_statements.RANGE, "")
    if notes:
        yield from (f"- Note {number}: {plain(words(note))}" for number, note in enumerate(notes, 1))
        yield ""
    yield from _unmeasured(s for s in stated if s not in measured)


def _rows(statement: Mapping, name: str) -> Iterator[list[str]]:
    """Yield a row per case; the statement's name is in the first row only."""
    for case in statement["table"]["rows"]:
        setting = plain("; ".join(filter(None, (case["setting"], case["extreme"]))))
        yield [name, setting, _published(case), _measured(case), _verdict(case["verdict"])]
        name = ""
    for number, verdict, why in statement["table"]["unmeasured"]:
        yield ["", f"{number} further cases: {plain(words(why))}", "", "", _verdict(verdict)]


def _side_by_side(across: Sequence[str], stated: Iterable[tuple[Mapping, str, Mapping]]) -> str:
    """Return a table of statements, each with its name and lines, whose columns are the values of one setting."""
    rows = []
    for statement, name, arranged in stated:
        of = statement["table"]
        common = {name: value for name, value in of["once"].items() if name not in of_statements.NUMERIC}
        for values, cases in arranged["lines"]:
            # A case without an assumption, such as a theorem's, has no value of it.
            setting = common | {k: v for k, v in zip(arranged["settings"], values, strict=True) if v}
            setting = [setting.pop(of_statements.VARIANT, ""), of_statements.once(setting)]
            published = {case["brief"]["published"] for case in cases if case}
            in_cells = statement["kind"] == "number" or len(published) > 1
            shown = {text: _cell(case, in_cells) for text, case in zip(arranged["across"], cases, strict=True) if case}
            said = "" if in_cells else plain(*published)
            rows.append([name, plain("; ".join(filter(None, setting))), said, *(shown.get(x, "") for x in across)])
            name = ""
        for number, verdict, why in of["unmeasured"]:
            rows.append(["", f"{number} further cases, {verdict}: {plain(words(why))}", "", *([""] * len(across))])
    return _without_empty(["statement", "setting", "published", *(plain(text) or "all" for text in across)], rows)


def _without_empty(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table without the columns that are empty in all rows."""
    filled = [n for n in range(len(header)) if any(row[n] for row in rows)]
    return table([header[n] for n in filled], [[row[n] for n in filled] for row in rows])


def _grid(statement: Mapping) -> Iterator[str]:
    """Yield a statement with many cases as a folded table, with settings down and across."""
    of = statement["table"]
    grid = of["grid"]
    is_number = statement["kind"] == "number"
    once = f"All cases: {plain(of_statements.once(of['once']))}." if of["once"] else ""
    yield " ".join(
        filter(None, (f"{_named(statement)}.", _explained(statement), once, of_statements.NUMBERS * is_number))
    )
    yield ""
    rows = [
        [*map(plain, settings), *(_cell(case, is_number, not is_number) if case else "" for case in cases)]
        for settings, cases in grid["lines"]
    ]
    counted = Counter(case["verdict"] for _, cases in grid["lines"] for case in cases if case)
    summary = ", ".join(f"{n} × {word}" for word, n in counted.items())
    yield from _folded([*(plain(words(name)) for name in grid["settings"]), *map(plain, grid["across"])], rows, summary)
    for number, verdict, reason in of["unmeasured"]:
        yield from (f"{number} further cases, {verdict}: {plain(words(reason))}", "")


def _folded(header: Sequence[str], rows: Sequence[Sequence[str]], summary: str) -> Iterator[str]:
    """Yield a table, behind its summary if it is long."""
    if len(rows) > MOST_LINES:
        yield from (f'<details markdown="1"><summary>{summary}</summary>', "")
    yield from (table(header, rows), "")
    if len(rows) > MOST_LINES:
        yield from ("</details>", "")


def _cell(case: Mapping, with_published: bool, with_interval: bool = True) -> str:
    """Return a case in a column of its own, bold if bad; with its printed number as NUMBERS says."""
    if not case["measured"]:
        return SIGNS[case["look"]]
    shown = _measured(case) if with_interval else case["brief"]["measured"] + _between(case)
    shown = f"{shown} {SIGNS[case['look']]}".strip()
    shown = f"**{shown}**" if case["look"] == "bad" else shown
    return f"{case['brief']['published']} → {shown}" if with_published else shown


def _verdict(word: str) -> str:
    shown = f"{SIGNS[of_statements.look(word)]} {word}"
    return f"**{shown}**" if of_statements.look(word) == "bad" else shown


def _unmeasured(stated: Iterable[Mapping]) -> Iterator[str]:
    """Yield the statements of which nothing was measured, by reason, so each reason is said once."""
    groups: dict[str, list[Mapping]] = {}
    for statement in stated:
        groups.setdefault(statement["cases"][0]["why"], []).append(statement)
    for why, some in groups.items():
        quotes = "; ".join(quoted(statement) for statement in some)
        yield f"**? unverifiable.** {plain(words(why)) or 'Nothing was measured.'} {quotes}."
        yield ""


def _named(statement: Mapping) -> str:
    """Return a statement with its outcome and place."""
    outcome = f"**{statement['outcome']}**: " if len(statement["cases"]) > 1 else ""
    return outcome + quoted(statement)


def _explained(statement: Mapping) -> str:
    """Return how a statement was measured, and the reasons of its verdicts."""
    parts = [plain(statement["test"])]
    if statement["after"]:
        parts.append(f"*Post hoc:* {plain(statement['after'])}")
    parts += [f"*{verdict}:* {plain(words(why))}" for verdict, why in statement["reasons"]]
    if statement["notes"]:
        parts.append(f"Note {', '.join(map(str, statement['notes']))}.")
    return " ".join(parts)


def quoted(statement: Mapping) -> str:
    if statement["ours"]:
        return f"{plain(statement['quote'])} (our question)"
    return f"“{plain(statement['quote'])}” ({plain(statement['place'])})"


def _published(case: Mapping) -> str:
    numbers = case["brief"]
    return plain(numbers["published"] + (f" ({numbers['accepted']})" if numbers["accepted"] else ""))


def _measured(case: Mapping) -> str:
    numbers = case["brief"]
    if not case["measured"] or not numbers["measured"]:
        return ""
    interval = f" [{numbers['low']}, {numbers['high']}]" if case["low"] != case["high"] else ""
    return numbers["measured"] + interval + _between(case)


def _between(case: Mapping) -> str:
    return f" ({case['between']})" if case["between"] else ""


def _assumptions(card: Mapping) -> Iterator[str]:
    """Yield the assumptions that decide a statement of the card, and links to the others."""
    decided = {s["statement"] for s in card["statements"] if s["decides"]}
    deciding = [r for r in card["readings"] if any(s["statement"] in decided for s in r["tried"])]
    for reading in deciding:
        first = plain(words(SENTENCE.split(reading["text"])[0]))
        yield f"[Assumption {reading['number']}](#{_assumption(reading)}) decides: {first}"
    rest = [f"[{r['number']}](#{_assumption(r)})" for r in card["readings"] if r not in deciding]
    if rest:
        word = "assumption" if len(rest) == 1 else "assumptions"
        yield f"{f'Other {word}' if deciding else word.capitalize()}: {', '.join(rest)}."


def _assumption(reading: Mapping) -> str:
    return f"assumption-{reading['number']}"


def _reading(reading: Mapping) -> str:
    effects = "; ".join(f"{_shortened(s)}: {s['outcome']}" for s in reading["tried"])
    tried = f" Effect of other choices: {effects}." if effects else ""
    return f"{plain(words(reading['text']))} *Source: {plain(reading['source'])}.*{tried}"


def _shortened(statement: Mapping) -> str:
    return f"“{plain(textwrap.shorten(statement['quote'], MOST_CHARACTERS, placeholder=' ...'))}”"


def plain(text: str) -> str:
    """Return a text in one line, with the characters escaped that Markdown would read as mark-up."""
    return re.sub(r"([*_|])", r"\\\1", re.sub(r"[ \n]+", " ", text.strip())).replace("<", "&lt;")
