"""Fast paths of stopping rules: `simulate(params, environment, rng) -> (stopping time, estimate)`."""
