"""The mini benchmark: one generated world, one text generator, six tasks in their formats."""
