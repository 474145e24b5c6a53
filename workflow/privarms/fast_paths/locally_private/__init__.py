"""Fast paths of locally private policies; `simulate` writes the protocol's record and returns the final state."""
