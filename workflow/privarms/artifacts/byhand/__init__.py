"""What the algorithms must do where it can be worked out without the library."""
