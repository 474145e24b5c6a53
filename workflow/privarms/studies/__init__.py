"""Studies: configuration, grids of cells, shards, random streams, runs and their Parquet files."""
