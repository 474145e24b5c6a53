"""From raw files to prepared datasets; one module a dataset."""
