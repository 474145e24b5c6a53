"""Inference tables, figures, tables and measures of the papers: one package per paper."""
