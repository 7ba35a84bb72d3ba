"""The pruning protocol's brokers in the reference implementation."""
