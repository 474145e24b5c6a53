"""How a replicate runs and what is recorded; one module a protocol."""
