"""Regret, validity and privacy of all policies on the same runs: recommended policies and their performance."""
