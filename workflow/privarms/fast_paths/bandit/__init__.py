"""Fast paths of stochastic bandits: `simulate(params, environment, checkpoints, rng, record)` plays one whole run.

params: of the policy; environment: has `means`, float64[K]; checkpoints: int64[C], increasing rounds from 1, the last
    one is the horizon; record: a new `protocols.bandit.Record`, with pulls and sums of 0
"""
