"""Planning and running of studies: configuration, cells, shards, random streams, and the plan of all outputs."""
