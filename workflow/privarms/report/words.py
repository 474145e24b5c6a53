"""Names as the page says them: columns, artifacts, policies, variants and claims have names for programs elsewhere."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from markupsafe import Markup, escape

VARIANTS = {
    "as_printed": "as printed",
    "as_released": "as released",
    "as_released_current": "as released, current",
}
# What a column holds where its name alone does not say it; a paper's own are in its configuration.
COLUMNS = {
    "p05": "5% of runs below",
    "p50": "half of runs below",
    "p95": "95% of runs below",
    "q90": "90% of runs below",
    "q99": "99% of runs below",
    "mse": "mean squared error",
    "replicates": "runs",
    "ours_replicates": "our runs",
    "ks": "distance from uniform",
    "ks_p": "p of that distance",
    "log_gamma": "ln gamma",
    "p_holm": "p after Holm",
    "significant_holm": "significant after Holm",
}
# Parts of names that are short for words.
PARTS = {"se": "standard error", "p": "p", "eps": "epsilon", "mse": "mean squared error"}

# What stands behind the name of another column.
ENDS = {"se": "standard error", "low": "lower end", "high": "upper end"}

# An address, a name in Markdown's quotes, a name of several parts, a number with an exponent: what comes first counts.
PIECES = re.compile(
    r"(?P<address>https?://[^\s,;]+[^\s,;.)])"
    r"|`(?P<quoted>[^`]+)`"
    r"|(?<![\w/.=$&,'-])(?P<name>[a-z][a-z0-9]*(?:_[a-z0-9]+)+|(?:fig|table)\d+[a-z]?)(?![\w=/(<>'-]|\.\w)"
    r"|(?<![\w.])(?P<number>\d(?:\.\d+)?e\+\d\d)(?!\w|\.\d)"
)
# From so many letters on a part of a name is a word and not a symbol: c_e, eps_m and tau_s stay as they are.
WORD = 3
GREEK = ("eps", "tau")
# Whole numbers of more digits are read in groups.
LONG = 4


def whole(value: float) -> str:
    """A whole number, in groups of three digits where it is long."""
    digits = f"{value:.0f}"
    return f"{int(digits):,}".replace(",", "\u202f") if len(digits.lstrip("-")) > LONG else digits


class Names:
    """What names mean in a paper's texts.

    known: name -> (words, the place on the page to which it leads, or nothing); columns: its own -> what they hold
    """

    def __init__(self, known: Mapping[str, tuple[str, str]], columns: Mapping[str, str] | None = None):
        self.known = {**{name: (words, "") for name, words in VARIANTS.items()}, **known}
        self.columns = COLUMNS | (columns or {})

    def column(self, name: str) -> str:
        """The head of a column for readers; its name in the CSV file says the same, shorter."""
        if name in self.columns:
            return self.columns[name]
        head, _, last = name.rpartition("_")
        if last in ENDS and head:
            return f"{self.column(head)}, {ENDS[last]}"
        if name.startswith("se_"):
            return f"{self.column(name[3:])}, standard error"
        if name.startswith("published_"):
            return f"published {self.column(name.removeprefix('published_'))}"
        return " ".join(PARTS.get(part, part) for part in name.split("_"))

    def plain(self, text: str) -> str:
        """The text with words for names, for where no link can be."""
        return PIECES.sub(lambda found: self._said(found)[0], text)

    def linked(self, text: str) -> Markup:
        """The text with words for names, which lead to what they name."""
        parts, end = [], 0
        for found in PIECES.finditer(text):
            words, place = self._said(found)
            parts.append(escape(text[end : found.start()]))
            end = found.end()
            if found["address"]:
                parts.append(addressed(found[0]))
            elif place:
                parts.append(Markup('<a href="#{}">{}</a>').format(quote(place), words))
            else:
                parts.append(Markup("<i>{}</i>").format(words) if found["quoted"] else escape(words))
        return Markup("").join([*parts, escape(text[end:])])

    def _said(self, found: re.Match) -> tuple[str, str]:
        if found["address"]:
            return found[0], ""
        if found["number"]:
            return whole(float(found[0])), ""
        name = found["quoted"] or found["name"]
        if name in self.known:
            return self.known[name]
        if found["quoted"]:
            return self.column(name), ""
        parts = name.split("_")
        symbol = len(parts) == 2 and (min(map(len, parts)) < WORD or parts[0] in GREEK)
        return (name if symbol or "_" not in name else name.replace("_", " ")), ""


def addressed(address: str) -> Markup:
    """A link to an address that also reads as one and can be copied; nothing for none."""
    if not address:
        return Markup()
    # Addresses of queries may have spaces and signs that end an address elsewhere.
    whole_address = quote(address, safe=":/?&=$,%#+~;@")
    return Markup('<a href="{0}" rel="noreferrer">{0}</a>').format(whole_address)


def setting(text: str) -> str:
    """A setting as `name = value, name = value`, with words for names and groups in long numbers."""
    text = re.sub(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+", lambda found: found[0].replace("_", " "), text)
    return re.sub(r"(?<![\w.])\d{5,}(?![\w.])", lambda found: whole(float(found[0])), text)
