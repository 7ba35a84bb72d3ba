"""Properties and claims of the pruning protocol."""
