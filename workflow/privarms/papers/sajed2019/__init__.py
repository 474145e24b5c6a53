"""Sajed and Sheffet 2019: inference tables, figures, tables and statements."""
