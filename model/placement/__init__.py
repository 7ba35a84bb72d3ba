"""Placement of publishers by POP and GRAPE, as a protocol: what is traced, asked and answered (`spec/placement.md`)."""
