"""Simulation loops: how one replicate runs and what it records; one module per policy family.

Each module defines FAMILY, the family of policies that it runs (None for audits, which run any policy), and KEYS, the
columns that identify a replicate's rows. If it offers several records, RECORDS lists them, the default first.
ROW_PER_BLOCK names the records with one row per block of replicates instead of one per replicate.
"""
