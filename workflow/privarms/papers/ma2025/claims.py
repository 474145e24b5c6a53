"""How each claim's value is measured; a function takes the results and the claim's arguments."""

from privarms.papers.ma2025 import _regret_claims, _removal_claims, _table2_claims, _text_claims
from privarms.plots.registry import functions_of

MEASURES = functions_of(_table2_claims, _regret_claims, _removal_claims, _text_claims)
