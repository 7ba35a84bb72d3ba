"""Migration: what a move of a publisher must keep."""
