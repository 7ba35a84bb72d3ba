"""A protocol from outside the distribution, as a user would write one, held to by every engine."""
