"""What can be told from a lock that exists: its preferences and whether it is current."""
