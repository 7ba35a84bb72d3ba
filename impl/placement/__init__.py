"""Placement of publishers by POP and GRAPE (004): the decisions, and brokers with the messages around them."""
