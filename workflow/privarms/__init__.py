"""privarms: differentially private bandits, their exact fast simulation, and the ledger of what reproduces."""

__version__ = "0.1.0"
