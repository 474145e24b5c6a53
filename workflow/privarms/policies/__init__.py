"""Bandit policies and stopping rules; one module each, found by its name."""
