"""Simulation loops: how one replicate runs and what it records; one module per policy family.

Each module defines FAMILY, the family of policies that it runs (None for audits, which run any policy), and KEYS, the
columns that identify a replicate's rows. If it offers several records, RECORDS lists them, the default first. COLUMNS
maps each record (None if there are no RECORDS) to the columns of its rows, other than `replicate`; no parameter of a
policy or an environment can have the name of one.
ROW_PER_BLOCK names the records with one row per block of replicates instead of one per replicate.
"""
