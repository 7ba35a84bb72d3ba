"""Indexes of filters: what covers, what overlaps, what matches."""
