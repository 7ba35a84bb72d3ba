"""Checks, arguments and comparisons that only the pruning protocol has."""
