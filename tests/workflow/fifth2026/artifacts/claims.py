"""How the claims are measured."""

from privarms.claims.verdict import Measured


def share(results):
    """The share of the best arm."""
    (row,) = results.inference("shares").itertuples()
    return Measured(row.mean, row.sem, row.size)


MEASURES = {"share": share}
