"""How a replicate runs and what is recorded: a module a family owns the loop and the record.

Each has the literals FAMILY, whose policies it runs (None for the audits, which run any); KEYS, the columns that tell a
replicate's rows apart; and, where it has a choice, RECORDS, the first one being the default. ROW_PER_BLOCK names those
of them that are a row per block of replicates, not per replicate.
"""
