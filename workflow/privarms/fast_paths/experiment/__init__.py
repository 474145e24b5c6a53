"""Fast paths of adaptive experiments: `simulate(params, environment, rng, record)`, a whole run at once."""
