"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

from privarms.papers.neel2018 import _bias, _correction, _linear
from privarms.plots.registry import functions_of

FIGURES = functions_of(_bias, _linear, _correction)
