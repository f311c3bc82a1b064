"""What people read, kept as files that a person has read."""
