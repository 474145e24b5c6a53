"""Run cells: random streams, blocks, rows, and their summaries."""
