"""Fast paths of locally private policies.

`simulate(params, environment, checkpoints, rng, record)` plays a whole replicate, the sources in their order and then
the target. It writes the protocol's record and returns the final state.
"""
