"""Policies that pull the arm whose mean could be largest."""
