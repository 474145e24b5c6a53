"""Claims: verdicts from regions and intervals, the ledger, and what changed between two ledgers."""
