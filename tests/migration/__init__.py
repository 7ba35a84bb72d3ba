"""Migration: explored, in lockstep with the implementation, and the example of the paper."""
