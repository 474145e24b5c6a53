"""Shared figures and tables: style, curves, sheets, and those that fit any study."""
