"""The mesh: maps, anchors and strategies against their definitions, and the protocol explored."""
