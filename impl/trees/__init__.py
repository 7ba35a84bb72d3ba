"""Dissemination on many trees (003): computed strategies, and the brokers that switch between them."""
