"""The embedded benchmark: one generated world, one realiser, six tasks in the official formats."""
