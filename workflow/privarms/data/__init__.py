"""From raw files to prepared datasets; one module a dataset."""

STAND_IN = "synthetic stand-in"
"""What generated data are called wherever something rests on them."""
