"""Reward models, one module each."""
