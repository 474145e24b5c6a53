"""Simulation loops: how one replicate runs and what it records; one module per policy family.

Each module defines KEYS, the columns that identify a replicate's rows, and FAMILY, the family of policies that it runs:
by default that with the protocol's name; None for audits, which run any policy. NEEDS_HORIZON = True says that its
studies must have a horizon. If it offers several records, RECORDS lists them, the default first. COLUMNS
maps each record (None if there are no RECORDS) to the columns of its rows, other than `replicate`; no parameter of a
policy or an environment can have the name of one.
ROW_PER_BLOCK names the records with one row per block of replicates instead of one per replicate.
"""
