"""What can be inferred from a study, and from the theorems: intervals, laws, bounds, tests, corrections."""
