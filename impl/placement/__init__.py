"""Placement of publishers by POP and GRAPE (004): the decisions, without the messages that carry them yet."""
