"""The mesh in the reference implementation (`spec/mesh.md`): maps, tables, forwarding, links, the move of a broker."""
