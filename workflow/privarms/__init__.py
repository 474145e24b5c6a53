"""privarms: differentially private bandits, their exact fast simulation, and the ledger of what reproduces."""

from privarms import edits as edits  # before anything that an edit could change

__version__ = "0.1.0"
