"""How jobs start: forks of one process that has imported the library."""
