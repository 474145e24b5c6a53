"""The command line and the Python interface."""
