"""Neel and Roth 2018: inference, figures, tables and statements."""
