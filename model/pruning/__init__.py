"""The pruning protocol: withdrawals that end where keeping a subscription costs little (`spec/pruning.md`)."""
