"""No figures: the numbers are compared in a table."""

FIGURES: dict = {}
