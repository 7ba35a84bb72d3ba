"""The vocabulary, and the protocols as pure functions over frozen values."""
