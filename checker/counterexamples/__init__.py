"""Counterexamples: recorded, replayed, shrunk, shown."""
