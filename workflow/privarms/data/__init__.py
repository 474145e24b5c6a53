"""From raw files to prepared datasets; one module per dataset."""

STAND_IN = "synthetic stand-in"
"""The label of generated data and of every result that uses them."""
