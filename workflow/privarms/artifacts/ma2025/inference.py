"""The inference tables: each function takes the results and returns a frame."""

from privarms.artifacts.ma2025.privacy import audit

INFERENCE = {"privacy": audit}
