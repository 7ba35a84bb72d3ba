"""Experiments: benchmarks, the figures of the papers, and what is written and drawn of a run."""
