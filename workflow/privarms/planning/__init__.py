"""Plan a run: configuration, cells, shards, datasets, outputs and paths."""
