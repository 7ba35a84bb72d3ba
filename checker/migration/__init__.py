"""Migration in the engines."""
