"""The routing core's brokers."""
