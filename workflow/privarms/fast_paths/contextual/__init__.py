"""Fast paths of contextual bandits: `simulate(params, environment, order, checkpoints, rng, rewards)`, a whole run."""
