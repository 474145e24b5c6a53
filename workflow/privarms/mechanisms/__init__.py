"""Privacy mechanisms: Laplace noise, Lap+, the tree counter, and the release in a ball."""
