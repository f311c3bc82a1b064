"""Detection and choice: what a machine says -> Facts -> the rows that serve it."""
