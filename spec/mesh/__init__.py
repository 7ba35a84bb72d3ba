"""What must hold of the mesh: `spec/mesh.md` in functions."""
