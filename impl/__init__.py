"""The reference implementation."""
