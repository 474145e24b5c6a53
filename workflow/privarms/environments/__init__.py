"""Where rewards come from; one module an environment."""
