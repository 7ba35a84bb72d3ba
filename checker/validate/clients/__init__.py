"""Rows about clients, and what they are owed."""
