"""Regret, validity and privacy of all policies on the same runs: what to take, and what to expect of it."""
