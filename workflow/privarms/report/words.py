"""Words for names: columns, artifacts, policies, variants and claims have names for programs elsewhere."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from markupsafe import Markup, escape

VARIANTS = {
    "as_printed": "as printed",
    "as_released": "as released",
    "as_released_current": "as released, current",
}
# The meaning of a column whose name does not explain it; a paper's own are in its configuration.
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
PARTS = {"se": "standard error", "eps": "epsilon", "mse": "mean squared error"}
# Endings that a column adds to the name of another column.
ENDS = {"se": "standard error", "low": "lower end", "high": "upper end"}
# An address, a name in Markdown's quotes, a name of several parts, a number with an exponent: the first that fits.
PIECES = re.compile(
    r"(?P<address>https?://[^\s,;]+[^\s,;.)])"
    r"|`(?P<quoted>[^`]+)`"
    r"|(?<![\w/.=$&,'-])(?P<name>[a-z][a-z0-9]*(?:_[a-z0-9]+)+|(?:fig|table)\d+[a-z]?)(?![\w=/(<>'-]|\.\w)"
    r"|(?<![\w.])(?P<number>\d(?:\.\d+)?e\+\d\d)(?!\w|\.\d)"
)
# A shorter part of a name is a symbol: c_e, eps_m and tau_s stay as they are.
WORD = 3
GREEK = ("eps", "tau")
# Longer whole numbers are written in groups of three digits.
LONG = 4


def whole(value: float) -> str:
    """Return a whole number, a long one in groups of three digits."""
    digits = f"{value:.0f}"
    return f"{int(digits):,}".replace(",", "\u202f") if len(digits.lstrip("-")) > LONG else digits


class Names:
    """The meaning of names in a paper's texts.

    known: name -> (words, the place on the page to which it leads, or nothing); columns: its own -> meaning
    """

    def __init__(self, known: Mapping[str, tuple[str, str]], columns: Mapping[str, str] | None = None):
        self.known = {**{name: (words, "") for name, words in VARIANTS.items()}, **known}
        self.columns = COLUMNS | (columns or {})

    def column(self, name: str) -> str:
        """Return the head of a column for readers."""
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
        """Return the text with words for names, without links."""
        return PIECES.sub(lambda piece: self._words(piece)[0], text)

    def linked(self, text: str) -> Markup:
        """Return the text with words for names, which are links to what they name."""
        parts, end = [], 0
        for piece in PIECES.finditer(text):
            words, place = self._words(piece)
            parts.append(escape(text[end : piece.start()]))
            end = piece.end()
            if piece["address"]:
                parts.append(addressed(piece[0]))
            elif place:
                parts.append(Markup('<a href="#{}">{}</a>').format(quote(place), words))
            else:
                parts.append(Markup("<i>{}</i>").format(words) if piece["quoted"] else escape(words))
        return Markup("").join([*parts, escape(text[end:])])

    def _words(self, piece: re.Match) -> tuple[str, str]:
        if piece["address"]:
            return piece[0], ""
        if piece["number"]:
            return whole(float(piece[0])), ""
        name = piece["quoted"] or piece["name"]
        if name in self.known:
            return self.known[name]
        if piece["quoted"]:
            return self.column(name), ""
        parts = name.split("_")
        symbol = len(parts) == 2 and (min(map(len, parts)) < WORD or parts[0] in GREEK)
        return (name if symbol else name.replace("_", " ")), ""


def addressed(address: str) -> Markup:
    """Return a link whose text is its address, so it can be copied; nothing for no address."""
    if not address:
        return Markup()
    # The address of a query may contain spaces and quotes.
    encoded = quote(address, safe=":/?&=$,%#+~;@")
    return Markup('<a href="{0}" rel="noreferrer">{0}</a>').format(encoded)


def setting(text: str) -> str:
    """Return a setting, `name = value, name = value`, with words for names and groups in long numbers."""
    text = re.sub(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+", lambda name: name[0].replace("_", " "), text)
    return re.sub(r"(?<![\w.])\d{5,}(?![\w.])", lambda number: whole(float(number[0])), text)
