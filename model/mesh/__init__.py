"""The mesh: brokers that know their neighbourhood and forward over soft links (paper 002; `spec/mesh.md`)."""
