"""From aggregated data to figures and tables: one module a paper, and the style that all of them share."""
