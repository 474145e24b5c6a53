"""Shared code for figures and tables: style, curves, sheets, and defaults that fit any study."""
