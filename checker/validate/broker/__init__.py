"""One broker's events, judged against the protocol's model."""
