"""Migration in the reference implementation."""
