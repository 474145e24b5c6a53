"""Fast paths of adaptive experiments: `simulate(params, environment, rng, record)` plays a whole run at once."""
