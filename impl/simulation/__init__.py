"""Runs in virtual time: the simulator, costs, metrics, recording."""
