"""Fast paths of adaptive experiments: `simulate(params, environment, rng, record)` plays a whole run at once.

record: a row of `protocols.experiment.new_records`, in which both arms remain and no estimate is known
"""
