"""Migration: explored, fuzzed, in lockstep with the implementation, validated, over TCP, and the paper's example."""
