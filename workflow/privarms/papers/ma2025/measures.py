"""How each claim's value is measured; a function takes the results and the claim's arguments."""

from privarms.papers.ma2025 import _regret_measures, _removal_measures, _table2_measures, _text_measures
from privarms.plots.registry import functions_of

MEASURES = functions_of(_table2_measures, _regret_measures, _removal_measures, _text_measures)
