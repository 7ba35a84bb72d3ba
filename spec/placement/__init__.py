"""Placement of a publisher by definition: what each broker would cost, computed from nothing but the paths."""
