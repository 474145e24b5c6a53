"""The noise and the counters that make something private."""
