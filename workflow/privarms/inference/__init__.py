"""Statistics on histories, simulated or real: intervals, tests, corrections, and the bounds of theorems."""
