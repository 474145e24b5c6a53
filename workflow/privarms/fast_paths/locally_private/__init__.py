"""Fast paths of locally private policies.

A fast path is `simulate(params, environment, checkpoints, rng, record)`: a whole replicate, the sources in their order
and then the target. It writes the protocol's record and returns the state at the end.
"""
