"""Publisher migration: a publisher moves to another broker while it publishes (paper 004, III-C)."""
