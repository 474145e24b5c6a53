"""The ledger: statements of papers, their cases, and one rule for each kind of statement."""
