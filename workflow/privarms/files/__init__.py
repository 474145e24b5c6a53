"""Reading and writing files, which are either whole or missing."""
