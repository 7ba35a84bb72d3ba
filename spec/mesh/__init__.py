"""Specification of the mesh: `spec/mesh.md` in functions."""
