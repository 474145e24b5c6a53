"""The one exception that a user is meant to read."""


class PrivarmsError(Exception):
    """Bad input: the message names the file and the key, what was expected and what to do."""
