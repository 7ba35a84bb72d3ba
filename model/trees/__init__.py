"""Dissemination on many trees, and the switch from one routing strategy to the next (paper 003)."""
