"""routeproof: a specified model of content-based routing, and the checker that holds brokers to it."""
