"""Many trees: their computation, and the protocol of their installation."""
