"""Auxiliary data that stream before the target's: users of other sources, with contexts and arms of another law."""
