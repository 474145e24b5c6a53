"""Atomic file access: a file is either complete or missing."""
