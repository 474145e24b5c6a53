"""The frontier of epsilon-DP Bernoulli bandits: inference tables, figures, tables and statements."""
