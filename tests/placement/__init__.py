"""Placement of publishers: decisions against definitions, and the paper's examples."""
