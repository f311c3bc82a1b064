"""What several tests need: small worlds of packages, servers for them, the command line."""
