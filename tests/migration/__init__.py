"""Migration: explored, fuzzed, in lockstep with the implementation, validated, over TCP, and the example of the paper."""
