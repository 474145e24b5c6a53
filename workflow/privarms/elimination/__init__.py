"""What the policies that eliminate arms have in common."""
