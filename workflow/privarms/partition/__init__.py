"""Dyadic partitions of the unit cube into bins, as a binary tree that is drawn in advance and refined on the way."""
